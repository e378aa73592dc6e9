import { parentPort } from 'node:worker_threads';
import type { SeriesOrder } from './judge-series.ts';
import { runSeries } from './run-series.ts';

// Runs the received series, one at a time, and responds with the outcome of each.
parentPort?.on('message', (order: SeriesOrder) => parentPort?.postMessage(runSeries(order)));
