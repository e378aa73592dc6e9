import { createRequire } from 'node:module';
import type { Admin, Kafka } from 'kafkajs';

const load = createRequire(import.meta.url);
const createAdmin: (options: object) => Admin = load('kafkajs/src/admin');
const { createLogger } = load('kafkajs/src/loggers') as {
  createLogger: (options: object) => object;
};

/** A client whose admin clients are kafkajs' own, on a cluster of the test. */
export function clientOfCluster(cluster: object): Pick<Kafka, 'admin'> {
  const logger = createLogger({ level: 0, logCreator: () => () => undefined });
  return {
    [Symbol('private:Kafka:createCluster')]: () => cluster,
    admin(this: Record<symbol, () => object>) {
      for (const key of Object.getOwnPropertySymbols(this)) this[key]?.();
      return createAdmin({ logger, retry: { retries: 0 }, cluster });
    },
  };
}
