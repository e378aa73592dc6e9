import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { hostRefusal } from '../../base/network/address-guard.ts';

/** Resolves a name to all of its addresses; `lookup` of `node:dns/promises` does. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
) => Promise<readonly LookupAddress[]>;

/** A host that must not be connected to. The message names it. */
export class RefusedHostError extends Error {
  override readonly name = 'RefusedHostError';
}

/**
 * The `lookup` of a socket. It fails if any address of the name must not be connected to. The addresses that
 * were checked are those that the socket connects to, so a name that changes meanwhile gains nothing. It is
 * not called for literal addresses: they have to be checked before.
 */
export function guardedLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true })
      .then((addresses) => checked(hostname, addresses))
      .then(
        (addresses) => {
          const [first] = addresses;
          if (options.all === true) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        },
        (error) => callback(error, []),
      );
  };
}

type SomeAddresses = readonly [LookupAddress, ...LookupAddress[]];

/** @throws {RefusedHostError} if an address must not be connected to */
function checked(hostname: string, addresses: readonly LookupAddress[]): SomeAddresses {
  for (const { address } of addresses) {
    const refusal = hostRefusal(address);
    if (refusal !== undefined) throw new RefusedHostError(`${hostname}: ${refusal}`);
  }
  const [first, ...others] = addresses;
  if (first === undefined) {
    throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
  }
  return [first, ...others];
}
