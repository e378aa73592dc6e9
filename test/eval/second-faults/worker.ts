import { parentPort } from 'node:worker_threads';
import type { PairOrder } from './pair-cases.ts';
import { runPairs } from './run-pairs.ts';

// Runs the received series, one at a time, and responds with the outcome of each pair.
parentPort?.on('message', (order: PairOrder) => parentPort?.postMessage(runPairs(order)));
