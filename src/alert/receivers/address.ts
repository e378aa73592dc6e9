/** An address of a receiver, taken apart. */
export interface Address {
  /** Without the login, which clients refuse in an address. */
  readonly url: string;
  /** `example.com` or `example.com:8080`: all of it that may be shown. */
  readonly host: string;
  /** Of a login in the address. */
  readonly authorization?: string;
  /** Parts that may hold a token. */
  readonly secrets: readonly string[];
}

/** Takes an http address apart. */
export function addressOf(text: string): Address {
  const url = new URL(text);
  const { host, username, password, pathname, search } = url;
  const hasLogin = username !== '' || password !== '';
  const secret = decoded(password);
  url.username = '';
  url.password = '';
  const secrets = [text, url.href, `${pathname}${search}`, pathname, search, secret];
  const address = { url: url.href, host, secrets };
  if (!hasLogin) return address;
  const authorization = basicLogin(decoded(username), secret);
  return { ...address, authorization, secrets: [...secrets, authorization] };
}

/** A part of an address in plain text; as it is where its `%` encode nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `Authorization` of a user name and a password. */
export function basicLogin(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
