import { randomBytes } from 'node:crypto';

/** A name no other test uses, fit for topics, groups and databases: "orders_1f09ac3b7d". */
export function uniqueName(prefix: string): string {
  return `${prefix}_${randomBytes(5).toString('hex')}`;
}
