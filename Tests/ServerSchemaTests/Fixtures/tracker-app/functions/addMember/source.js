exports = () => null;
