import { parentPort } from 'node:worker_threads';
import type { SeriesOrder } from '../judge-series.ts';
import { runMechanism } from './run-mechanism.ts';

// Runs the received series, one at a time, and responds with the outcome of each.
parentPort?.on('message', (order: SeriesOrder) => parentPort?.postMessage(runMechanism(order)));
