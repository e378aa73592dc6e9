/** The used part of kafkajs' encoder (src/protocol/encoder.js). */
export interface KafkajsEncoder {
  writeBoolean(value: boolean): this;
  writeInt32(value: number): this;
  writeString(value: string): this;
  writeUVarInt(value: number): this;
  writeUVarIntString(value: string): this;
  writeBuffer(value: Buffer): this;
}

/** The used part of kafkajs' decoder (src/protocol/decoder.js). */
export interface KafkajsDecoder {
  readInt16(): number;
  readInt32(): number;
  /** A Long of kafkajs. */
  readInt64(): { toString(): string };
  readBoolean(): boolean;
  readBytes(length: number): Buffer;
  readString(): string | null;
  readUVarIntString(): string | null;
  readArray<T>(read: () => T): T[];
  readUVarIntArray<T>(read: () => T): T[];
  readTaggedFields(): unknown;
}

/** One request and the decoder of its response, as kafkajs' connection sends it. */
export interface KafkajsExchange<T> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<KafkajsEncoder>;
  };
  readonly response: {
    readonly decode: (bytes: Buffer) => Promise<T>;
    readonly parse: (data: T) => Promise<T>;
  };
}
