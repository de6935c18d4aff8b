export const EQUIVALENT = {};
