import { tlsFailure } from '../../base/network/tls-failure.ts';
import { RefusedHostError } from './guarded-lookup.ts';

/**
 * Why there is no response, for people: `connection failed: ECONNREFUSED`. Messages of libraries are not
 * repeated, as some quote the address with its path. The message of a refused host names the host only.
 */
export function httpFailure(error: unknown): string {
  if (error instanceof RefusedHostError) return error.message;
  if (!(error instanceof Error)) return 'connection failed';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const refusingProxy = /^Proxy response \((\d{3})\)/.exec(error.message)?.[1];
  if (refusingProxy !== undefined) return `the proxy refuses to connect: status ${refusingProxy}`;
  if (error.message.startsWith('Proxy Authentication Required')) {
    return 'the proxy refuses to connect: status 407';
  }
  if (code === 'UND_ERR_INVALID_ARG') return 'cannot be sent: a header or the address is not valid';
  const tls = tlsFailure(error);
  if (tls !== undefined) return `TLS: ${tls}`;
  if (code === 'UND_ERR_SOCKET') return 'connection closed before a response';
  if (error.name === 'HTTPParserError') return 'the response is not HTTP';
  return code === '' ? 'connection failed' : `connection failed: ${code}`;
}
