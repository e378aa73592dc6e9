/** Copies a text; false where the browser refuses. */
export async function copy(text: string): Promise<boolean> {
  // Browsers have the clipboard on https and loopback addresses only.
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Without the permission the old way may still work.
    }
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'off-screen';
  document.body.append(area);
  const focused = document.activeElement;
  area.select();
  const hasCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return hasCopied;
}
