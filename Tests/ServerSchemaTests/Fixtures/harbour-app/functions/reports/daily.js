exports = async function () { return []; };
