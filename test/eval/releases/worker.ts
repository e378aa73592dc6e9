import { parentPort } from 'node:worker_threads';
import { type ReleaseOrder, runReleases } from './run-releases.ts';

// Runs the series that it is sent, one at a time, and answers with what became of each case.
parentPort?.on('message', (order: ReleaseOrder) => parentPort?.postMessage(runReleases(order)));
