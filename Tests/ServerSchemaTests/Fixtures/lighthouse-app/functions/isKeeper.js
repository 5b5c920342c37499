exports = () => true;
