export interface Kernel {
  readonly name: string;
  /** The file that it is compiled to, and what that exports. */
  readonly output: string;
  readonly constant: string;
  /** The compiler's options for its memory. */
  readonly memory: readonly string[];
}

export const kernels: readonly Kernel[];

export function compileKernel(kernel: Kernel): Promise<string>;
