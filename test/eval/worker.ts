import { parentPort } from 'node:worker_threads';
import { runSeries, type SeriesOrder } from './run-series.ts';

// Runs the series that it is sent, one at a time, and answers with what became of each.
parentPort?.on('message', (order: SeriesOrder) => parentPort?.postMessage(runSeries(order)));
