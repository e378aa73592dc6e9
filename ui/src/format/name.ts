// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through.
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** A name from the traffic within a sentence: it cannot break its line, nor turn the text after it around. */
export function shownName(name: string): string {
  const plain = name.replace(controls, ' ');
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
}
