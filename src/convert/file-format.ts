import type { DraftSink } from '../formats/format-reader.ts';

/** A file to convert. Formats of several files, such as the logs of a server, are given all of them. */
export interface InputFile {
  /** Name without its folder. */
  readonly name: string;
  /** Yields the bytes from the beginning, inflated where the file is gzipped. */
  open(): AsyncIterable<Buffer>;
}

/** Values that the command line gives and a file may lack. */
export interface ConvertOptions {
  readonly model?: string | undefined;
  /** Time at which the first request started, for formats without times. */
  readonly startMs?: number | undefined;
}

/** A format of files that become timing events. */
export interface FileFormat {
  /** As `--format` takes it. */
  readonly name: string;
  /** Software and files, in a line of the help. */
  readonly what: string;
  /** Returns what tells the format, if the beginning of a file (up to 64 KiB) does; for `--format auto`. */
  recognise(head: string, fileName: string): string | undefined;
  /**
   * Converts files as a stream: memory does not grow with them. Content never makes it throw.
   *
   * @throws OperatorError where an option is missing that the format needs.
   */
  convert(files: readonly InputFile[], options: ConvertOptions, sink: DraftSink): Promise<void>;
}

/** The `convert` of a format whose files are independent of each other. */
export function eachFile(
  convertFile: (file: InputFile, options: ConvertOptions, sink: DraftSink) => Promise<void>,
): FileFormat['convert'] {
  return async (files, options, sink) => {
    for (const file of files) await convertFile(file, options, sink);
  };
}

/** The `recognise` of a format whose files have all of these keys near their beginning. */
export function recognisedByKeys(...keys: readonly string[]): FileFormat['recognise'] {
  return (head) =>
    keys.every((key) => head.includes(`"${key}"`)) ? keys.join(' and ') : undefined;
}
