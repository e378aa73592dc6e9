const none = '(none)';

/** A value of a dimension in a list: "(none)" of requests without one, and a value of these very letters in quotes. */
export function valueText(value: string): string {
  if (value === '') return none;
  return value === none ? JSON.stringify(value) : value;
}
