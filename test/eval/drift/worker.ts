import { parentPort } from 'node:worker_threads';
import { type DriftOrder, runDrift } from './run-drift.ts';

// Runs the series that it is sent, one at a time, and answers with what became of each.
parentPort?.on('message', (order: DriftOrder) => parentPort?.postMessage(runDrift(order)));
