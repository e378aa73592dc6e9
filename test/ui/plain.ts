/** A text with a plain space before its unit, as a test writes it. */
export const plain = (text: string): string => text.replaceAll('\u202f', ' ');
