import { isIPv6 } from 'node:net';

/** A name, an IPv4 address or an IPv6 address in brackets, and a port: `[::1]:9092`. */
export const hostPortPattern = /^(?:\[([\da-fA-F:.]+)\]|([^\s:/,[\]]+)):(\d{1,5})$/;

/** Parses `host:port`; undefined for other text. The brackets of an IPv6 address are left out. */
export function hostPort(text: string): { host: string; port: number } | undefined {
  const [, address, name, digits] = hostPortPattern.exec(text) ?? [];
  const host = address ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (address !== undefined && !isIPv6(address))) return;
  return { host, port };
}
