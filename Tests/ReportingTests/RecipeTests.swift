import Testing

@testable import Reporting

/// Tests that `explain` finds the recipes of the guide.
@Suite struct RecipeTests {
    @Test func thePageHasRecipes() {
        #expect(Recipe.all.count > 80)
        #expect(Set(Recipe.all.map(\.question)).count == Recipe.all.count)
        for recipe in Recipe.all {
            #expect(recipe.wordings.count == 2, "\(recipe.question)")
            #expect(recipe.job.hasPrefix("job: ") && recipe.job.contains("\nsteps:\n"), "\(recipe.question)")
        }
    }

    @Test(arguments: Recipe.all) func aRecipeIsFoundByItsWords(_ recipe: Recipe) throws {
        for words in [recipe.question] + recipe.wordings {
            #expect(Recipe.recipes(for: words).first?.question == recipe.question, "\(words)")
        }
    }

    @Test func theNearestRecipeIsShownWithItsJob() throws {
        let text = try ExplainResult(of: "lower-case an email").text(width: 80)
        #expect(text.hasPrefix("Lower-case and trim an e-mail\n"), "\(text)")
        #expect(text.contains("$toLower") && text.contains("\n  before  {"), "\(text)")
        let others = try ExplainResult(of: "rename a field").text(width: 80)
        #expect(others.hasPrefix("Rename a field\n") && others.contains("\nOther recipes:\n  Rename "), "\(others)")
    }

    @Test(arguments: ["", "the of", "zebra quantum"]) func otherWordsFindNothing(_ text: String) {
        #expect(Recipe.recipes(for: text).isEmpty)
        #expect(throws: UnknownCode.self) { try ExplainResult(of: text) }
    }
}
