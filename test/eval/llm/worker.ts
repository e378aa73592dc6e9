import { parentPort } from 'node:worker_threads';
import { type LlmOrder, runLlm } from './run-llm.ts';

// Runs the received servers, one at a time, and responds with the pages of each.
parentPort?.on('message', (order: LlmOrder) => parentPort?.postMessage(runLlm(order)));
