import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import type { Notice } from '../receiver.ts';

/** Recipients whom a mail has not reached yet, as a delivery remembers them. */
const rest = z.object({
  change: z.enum(['opened', 'risen', 'updated', 'resolved', 'past']),
  later: z.array(z.string()),
});

/** The change that a mail has not brought to some recipients, and their addresses. */
export type MailRest = z.output<typeof rest>;

/** Hexadecimal digits that name a recipient: 50 of them fit into the memory of a delivery. */
const nameLength = 12;

/** Memory of a mail that did not reach these addresses; '' where it reached all. */
export function restMemory(change: Notice['change'], later: readonly string[]): string {
  if (later.length === 0) return '';
  return JSON.stringify({ change, later: later.map(nameOf) } satisfies MailRest);
}

/** Reads it; undefined where the mail reached all. */
export function restOf(memory: string): MailRest | undefined {
  if (memory === '') return undefined;
  try {
    return rest.parse(JSON.parse(memory));
  } catch {
    return undefined;
  }
}

/** Those of the configured recipients that are meant. One that was removed since gets nothing. */
export function recipientsOf({ later }: MailRest, to: readonly string[]): string[] {
  return to.filter((address) => later.includes(nameOf(address)));
}

/** Name of an address. The mail library writes domains in ASCII. */
function nameOf(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  const key = `${address.slice(0, at)}@${(domainToASCII(domain) || domain).toLowerCase()}`;
  return createHash('sha256').update(key).digest('hex').slice(0, nameLength);
}
