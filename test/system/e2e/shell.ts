/** Documentation as a user follows it: the lines of its shell blocks, pasted into a shell. */
import { spawn } from 'node:child_process';
import { childEnvironment } from '../../child-environment.ts';

/** Longer than any `--wait` of a guide. */
const LINE_MS_MAX = 120_000;

/** The lines of every fenced shell block, block by block. */
export function shellBlocks(text: string): string[][] {
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) =>
    block!.trimEnd().split('\n'),
  );
}

interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The words before a command that runs in another place. */
  readonly within?: readonly string[];
  readonly lineMsMax?: number;
}

/** One shell that gets its lines one by one, so that variables live on. */
export class Shell {
  private readonly child;
  private readonly lineMsMax: number;
  private output = '';
  private look = (): void => {};

  constructor({ cwd, env, within = [], lineMsMax = LINE_MS_MAX }: ShellOptions) {
    this.lineMsMax = lineMsMax;
    const [program, ...words] = [...within, 'sh'];
    this.child = spawn(program!, words, { cwd, env: childEnvironment(env) });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.look();
      });
    }
  }

  run(line: string): Promise<{ code: number; output: string }> {
    this.output = '';
    const mark = `done-${process.pid}`;
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => reject(new Error(`no end: ${line}`)), this.lineMsMax);
      this.look = () => {
        const found = new RegExp(`${mark} (\\d+)\n`).exec(this.output);
        if (found === null) return;
        clearTimeout(deadline);
        resolve({ code: Number(found[1]), output: this.output.slice(0, found.index) });
      };
      this.child.stdin.write(`${line}\necho "\n${mark} $?"\n`);
    });
  }

  end(): void {
    this.child.kill();
  }
}
