/** Ways in which servers and libraries write a text that they quote. */

const bytes = (text: string) => [...Buffer.from(text)];
const hex = (text: string) => Buffer.from(text).toString('hex');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const each = (text: string, of: (character: string) => string) => [...text].map(of).join('');
const units = (text: string, of: (hex: string) => string) =>
  text
    .split('')
    .map((unit) => of(unit.charCodeAt(0).toString(16).padStart(4, '0')))
    .join('');
const json = (value: unknown) => JSON.stringify(value);
const url = encodeURIComponent;
const form = (text: string) => new URLSearchParams({ t: text }).toString();
const html = (text: string) =>
  each(
    text,
    (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c] ?? c,
  );
const lower = (text: string) => text.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
const lines = (text: string) => text.replace(/.{76}/g, '$&\r\n');
const sql = (text: string) => `'${text.replaceAll("'", "''")}'`;
const clickhouse = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const slashes = (text: string) => json(text).replaceAll('/', '\\/');

export const spellings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  json,
  'json with \\/': slashes,
  'json, all units': (text) => `"${units(text, (unit) => `\\u${unit}`)}"`,
  'json, all units in capitals': (text) => `"${units(text, (unit) => `\\u${unit.toUpperCase()}`)}"`,
  'json of ASCII': (text) =>
    json(text).replace(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  'json of HTML': (text) =>
    json(text).replace(/[<>&']/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
  'json in json': (text) => json(json({ token: text })),
  'json with \\/ in json': (text) => slashes(slashes(text)),
  'json in json in json': (text) => json(json(json(text))),
  url,
  'url in small letters': (text) => lower(url(text)),
  'url, all bytes': (text) => hex(text).replace(/../g, '%$&'),
  'url, as little as may be': (text) => new URL(`http://h/?t=${text.replace(/[#%]/g, url)}`).search,
  'url of a url': (text) => url(`http://h/?t=${url(text)}`),
  'json in a url': (text) => url(json({ t: text })),
  'url in json': (text) => json({ at: `/x?t=${lower(url(text))}` }),
  form,
  'form in small letters': (text) => lower(form(text)),
  'form in json': (text) => slashes(form(text)),
  html,
  'html, decimal': (text) => each(text, (c) => `&#${c.codePointAt(0)};`),
  'html, hexadecimal': (text) => each(text, (c) => `&#x${c.codePointAt(0)?.toString(16)};`),
  'html, hexadecimal with zeros': (text) =>
    each(text, (c) => (/\w/.test(c) ? c : `&#x00${c.codePointAt(0)?.toString(16).toUpperCase()};`)),
  'html of json': (text) => html(json({ t: text })),
  'html of html': (text) => html(html(text)),
  sql,
  'sql of ClickHouse': clickhouse,
  'sql in json': (text) => json({ error: `near ${sql(text)}` }),
  'sql of ClickHouse in json': (text) => json({ exception: `near ${clickhouse(text)}` }),
  csv: (text) => `a,"${text.replaceAll('"', '""')}",b`,
  shell: (text) => `curl -H '${text.replaceAll("'", "'\\''")}'`,
  'bytes with \\x': (text) => hex(text).replace(/../g, '\\x$&'),
  'octal bytes': (text) =>
    each(text, (c) =>
      bytes(c)
        .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
        .join(''),
    ),
  base64,
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 of a login': (text) => base64(`ann:${text}`),
  'base64 of a login of forms': (text) => base64(`ann:${url(text)}`),
  'base64url of json': (text) => Buffer.from(json({ sub: text })).toString('base64url'),
  'base64 in lines': (text) => lines(base64(`${'x'.repeat(50)}${text}${'y'.repeat(50)}`)),
  'base64 in a url': (text) => url(base64(`\0ann\0${text}`)),
  'base64 in json with \\/': (text) => slashes(base64(`a:${text}`)),
  hex,
  'hex in capitals': (text) => hex(text).toUpperCase(),
  'hex, a dump': (text) => `<Buffer ${hex(text).replace(/..(?=.)/g, '$& ')}>`,
  'hex with colons': (text) => hex(text).replace(/..(?=.)/g, '$&:'),
  'hex, a list': (text) => hex(text).replace(/../g, '0x$&, '),
  'a list of bytes': (text) => json(Buffer.from(text)),
  'hex of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('hex'),
  'base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  'parted by line breaks': (text) => each(text, (c) => `${c}\n  `),
  'parted by colours': (text) => each(text, (c) => `${c}\u001b[31m`),
  'parted by tags': (text) => each(text, (c) => `${c}<wbr>`),
  'parted by joiners': (text) => each(text, (c) => `${c}\u200d\ufeff`),
  'quoted-printable': (text) =>
    each(text, (c) =>
      /[\w ]/.test(c)
        ? c
        : bytes(c)
            .map((byte) => `=${byte.toString(16).padStart(2, '0').toUpperCase()}`)
            .join(''),
    ),
};
