import type { OutgoingMessage, Publisher } from '../../src/kafka/client/publisher.ts';
import type { FakeWorld } from './fake-world.ts';

/** The dead-letter topic: its messages, and who wrote them. */
export class FakePublisher {
  readonly #world: FakeWorld;
  readonly messages: { readonly topic: string; readonly message: OutgoingMessage }[] = [];

  constructor(world: FakeWorld) {
    this.#world = world;
  }

  /** The publisher as one process sees it. */
  of(process: number): Publisher {
    return {
      publish: (topic, messages) =>
        this.#world.ask(process, 'publish', () => {
          for (const message of messages) this.messages.push({ topic, message });
        }),
      close: async () => undefined,
    };
  }
}
