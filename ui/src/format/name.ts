// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through.
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** White space and invisible marks at an end, which a reader cannot see; a name of them alone has no width. */
const unseenEnd = /^[\s\p{Cf}\u3164]|[\s\p{Cf}\u3164]$/u;

/**
 * A name from the traffic within a sentence: it cannot break its line, nor turn the text after it around, and
 * quotes show the space at its ends.
 */
export function shownName(name: string): string {
  const plain = name.replace(controls, ' ');
  const visible = unseenEnd.test(plain) ? `"${plain}"` : plain;
  return rightToLeft.test(visible) ? `\u2068${visible}\u2069` : visible;
}
