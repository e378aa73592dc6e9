import { fileURLToPath } from 'node:url';
import { startChildPeer } from './child-peer.ts';
import { centroidSums, centroidTable, type Peer } from './peer.ts';
import { withTable } from './with-table.ts';

export const idiomatic: Peer = {
  name: 'idiomatic TypeScript',
  about: 'kafkajs, JSON.parse, npm tdigest, JSONEachRow',
  share: 0.25,
  start: async (stack) => {
    const child = fileURLToPath(new URL('./idiomatic-child.js', import.meta.url));
    return withTable(startChildPeer([process.execPath, child], stack), stack, centroidTable);
  },
  sums: centroidSums,
};
