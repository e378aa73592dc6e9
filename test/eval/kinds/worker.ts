import { parentPort } from 'node:worker_threads';
import { type KindsOrder, runKinds } from './run-kinds.ts';

// Runs the fleets that it is sent, one at a time, and answers with what became of each fault.
parentPort?.on('message', (order: KindsOrder) => parentPort?.postMessage(runKinds(order)));
