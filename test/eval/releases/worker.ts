import { parentPort } from 'node:worker_threads';
import { type ReleaseOrder, runReleases } from './run-releases.ts';

// Runs the received series, one at a time, and responds with the outcome of each case.
parentPort?.on('message', (order: ReleaseOrder) => parentPort?.postMessage(runReleases(order)));
