/** Start of every secret of a test. */
export const canary = 'CANARY';

/** Finds a canary in a text, plain or within base64, with the text around it. */
export function leaksIn(text: string): string[] {
  const forms = [canary, ...[0, 1, 2].map(insideBase64)];
  return forms.flatMap((form) => {
    const at = text.indexOf(form);
    return at < 0 ? [] : [text.slice(Math.max(0, at - 120), at + 80)];
  });
}

/** The base64 text of a canary that starts after so many bytes, modulo 3. */
function insideBase64(before: number): string {
  const bytes = Buffer.from('\0'.repeat(before) + canary);
  const from = Math.ceil((before * 8) / 6);
  return bytes.toString('base64').slice(from, Math.floor((bytes.length * 8) / 6));
}
