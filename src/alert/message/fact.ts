/** One fact of a message: a line, or a row of a table. */
export interface Fact {
  readonly label: string;
  readonly text: string;
}
