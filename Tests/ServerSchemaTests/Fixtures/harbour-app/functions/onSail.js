exports = async function (event) { return event.documentKey; };
