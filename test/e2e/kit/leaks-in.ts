/** Every secret of a test begins like this. */
export const canary = 'CANARY';

/** Places where a text holds a canary, plain or within base64, with what stands around them. */
export function leaksIn(text: string): string[] {
  const forms = [canary, ...[0, 1, 2].map(insideBase64)];
  return forms.flatMap((form) => {
    const at = text.indexOf(form);
    return at < 0 ? [] : [text.slice(Math.max(0, at - 120), at + 80)];
  });
}

/** The part of a base64 text that a canary leaves in it after so many bytes, modulo 3. */
function insideBase64(before: number): string {
  const bytes = Buffer.from('\0'.repeat(before) + canary);
  const from = Math.ceil((before * 8) / 6);
  return bytes.toString('base64').slice(from, Math.floor((bytes.length * 8) / 6));
}
