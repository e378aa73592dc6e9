/** Windows in a row whose requests are counted: what lasts longer is judged by its last ones. */
export const longestRun = 30;
