import { parentPort } from 'node:worker_threads';
import { type DriftOrder, runDrift } from './run-drift.ts';

// Runs the received series, one at a time, and responds with the outcome of each.
parentPort?.on('message', (order: DriftOrder) => parentPort?.postMessage(runDrift(order)));
