import { styleText } from 'node:util';

const styles = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;
type Style = (typeof styles)[number];

/** Styles of text on a terminal; without effect where colours are off. */
export type Colors = Readonly<Record<Style, (text: string) => string>>;

/** Returns the styles for an Io: `const { bold } = colorsOf(io)`. */
export function colorsOf({ color }: { readonly color: boolean }): Colors {
  const paint = (style: Style) => (text: string) =>
    color && text !== '' ? styleText(style, text, { validateStream: false }) : text;
  return Object.fromEntries(styles.map((style) => [style, paint(style)])) as Colors;
}
