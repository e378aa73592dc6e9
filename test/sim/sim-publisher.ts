import type { OutgoingMessage, Publisher } from '../../src/kafka/client/publisher.ts';
import type { Endpoint } from './endpoint.ts';

/** A dead letter of the topic. */
export interface SimLetter {
  readonly topic: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The dead-letter topics of a group, and a process' publisher to them. */
export class SimLetters {
  readonly letters: SimLetter[] = [];

  publisherOf(endpoint: Endpoint): Publisher {
    return {
      publish: (topic, messages) => this.#publish(endpoint, topic, messages),
      close: async () => undefined,
    };
  }

  #publish(endpoint: Endpoint, topic: string, messages: readonly OutgoingMessage[]): Promise<void> {
    const { scheduler, faults, random } = endpoint.world;
    return new Promise((resolve, reject) => {
      if (endpoint.isDead || messages.length === 0) return endpoint.isDead ? undefined : resolve();
      const death = endpoint.drawDeath();
      if (death === 'before') return endpoint.die();
      const isLost = endpoint.isCutOff || faults.strikes('letter_lost');
      const isAnswerLost = !isLost && faults.strikes('letter_answer_lost');
      const answer = (delayMs: number, action: () => void) =>
        scheduler.at(delayMs, endpoint.owner, action);
      const refuse = () => reject(Object.assign(new Error('not written'), { code: 'TIMEOUT' }));
      if (isLost) {
        answer(random.unit() * 3_000, refuse);
        return;
      }
      scheduler.at(endpoint.latencyMs(), undefined, () => {
        for (const { headers = {} } of messages) {
          this.letters.push({ topic, headers: headers as Readonly<Record<string, string>> });
        }
        if (death === 'after') return endpoint.die();
        if (isAnswerLost) answer(random.unit() * 3_000, refuse);
        else answer(endpoint.latencyMs(), resolve);
      });
    });
  }
}
