/** Windows in a row whose requests are counted: what lasts longer is judged by its last ones. */
export const longestRun = 30;

/** And within so many, where there are some without a request between them: what was before says nothing of now. */
export const longestSpan = 2 * longestRun;
