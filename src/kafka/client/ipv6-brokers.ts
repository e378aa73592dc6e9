import type { ISocketFactory } from 'kafkajs';
import { hostPort } from '../../base/host-port.ts';

/** Windows writes IPv6 addresses as host names in this way, with `-` for `:`. */
const literal = '.ipv6-literal.net';

/** kafkajs splits a bootstrap broker at its first colon, so an IPv6 address becomes a name without colons. */
export function brokerName(broker: string): string {
  const { host, port } = hostPort(broker) ?? { host: '', port: 0 };
  return host.includes(':') ? `${host.replaceAll(':', '-')}${literal}:${port}` : broker;
}

/** Connects to the addresses that such names stand for. */
export function ipv6Sockets(sockets: ISocketFactory): ISocketFactory {
  return (options) => {
    const { host } = options;
    if (!host.endsWith(literal)) return sockets(options);
    return sockets({ ...options, host: host.slice(0, -literal.length).replaceAll('-', ':') });
  };
}
