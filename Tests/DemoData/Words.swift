/// The words that occur in the texts of the generated documents.
enum Words {
    static let firstNames = [
        "Ada", "Alan", "Barbara", "Chen", "Dennis", "Edsger", "Fatima", "Grace", "Hedy", "Ines", "Joan", "Katherine",
        "Lars", "Margaret", "Niklaus", "Olga", "Priya", "Quentin", "Radia", "Søren", "Tim", "Ursula", "Yuki", "Zoë",
    ]
    static let lastNames = [
        "Allen", "Bartik", "Cerf", "Dijkstra", "Engelbart", "Floyd", "Goldberg", "Hopper", "Iverson", "Johnson",
        "Kay", "Lamport", "Liskov", "McCarthy", "Naur", "Ousterhout", "Perlman", "Ritchie", "Shaw", "Thompson",
        "Ullman", "Vaughan", "Wirth", "Yao",
    ]
    static let cities = ["Berlin", "Boston", "København", "Lagos", "Lima", "Osaka", "Paris", "Pune", "Toronto", "Wien"]
    static let countries = ["AT", "CA", "DE", "DK", "FR", "IN", "JP", "NG", "PE", "US"]
    static let streets = [
        "Canal Street", "High Street", "Mill Lane", "Park Road", "Station Road", "Willow Avenue",
    ]
    static let tags = ["beta", "club", "family", "news", "press", "staff", "trial", "vip"]
    static let settings = ["colour", "font", "language", "theme", "timezone"]
    static let values = ["auto", "dark", "de", "en", "large", "light", "small", "utc"]
    static let dogs = ["Argos", "Balto", "Bella", "Fido", "Hachi", "Laika", "Lassie", "Luna", "Rex", "Snowy", "Toto"]
    static let breeds = ["beagle", "boxer", "collie", "dachshund", "husky", "mixed", "poodle", "terrier"]
    static let toys = ["ball", "bone", "frisbee", "rope", "slipper", "stick"]
    static let verbs = ["Buy", "Call", "Clean", "Fix", "Plan", "Review", "Send", "Write"]
    static let nouns = ["agenda", "bicycle", "garden", "invoice", "kitchen", "letter", "roadmap", "tickets"]
    static let states = ["Open", "InProgress", "Complete"]
}
