/** Masks a value for display: a login in it, and the query of a URL, become `***`. */
export function maskLogin(text: string): string {
  const scheme = /^[a-z][a-z0-9+._-]*:\/\//i.exec(text)?.[0] ?? '';
  const shown = scheme === '' ? text : text.replace(/\?[^\s]*$/, '?***');
  const at = shown.lastIndexOf('@');
  if (at < 0 || isPlainUrl(shown)) return shown;
  // A password may hold any character, including those that end the address in a valid URL.
  return `${scheme}***@${shown.slice(at + 1)}`;
}

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, host } = new URL(text);
  return host !== '' && username === '' && password === '';
}
