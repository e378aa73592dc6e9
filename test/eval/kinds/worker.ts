import { parentPort } from 'node:worker_threads';
import { type KindsOrder, runKinds } from './run-kinds.ts';

// Runs the received fleets, one at a time, and responds with the outcome of each fault.
parentPort?.on('message', (order: KindsOrder) => parentPort?.postMessage(runKinds(order)));
