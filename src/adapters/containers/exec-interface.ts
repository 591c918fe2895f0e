/**
 * The simple interface (contracts.md#the-simple-interface): the container sleeps, and each call runs
 * its script `/run.sh`. The call is in environment variables, which the engine gets as a list, so that
 * no text of a transaction is ever part of a command.
 */
import { contractLimits } from '../../base/limits/contract-limits.ts';
import type { ContractExecution, ContractOutcome } from '../../base/ports/containers.ts';
import type { Log } from '../../base/ports/log.ts';
import type { ContainerInterface, ContainerSession } from './container-interface.ts';
import type { Engine } from './engine.ts';
import { EngineRefusal } from './engine-client.ts';
import { BUSINESS_ERROR, brokenCall, execResult, wrongResult } from './exec-result.ts';
import { Failed, lasting, ofContract } from './failures.ts';
import { EndlessOutput, type Output, readOutput } from './output-frames.ts';

export interface ExecOptions {
  /** Where containers find the reads of the node; undefined: they get no network. */
  readonly rest: NodeAddress | undefined;
  /** Processes that a container may have. */
  readonly pidsMax: number;
}

export interface NodeAddress {
  /** Undefined: the address of this machine in the network of the container. */
  readonly host: string | undefined;
  readonly port: number | Promise<number>;
}

export interface ExecDeps {
  readonly engine: Engine;
  readonly log: Log;
}

/** The kernel takes no longer string into the environment of a process. */
const VARIABLE_BYTES_MAX = contractLimits.variable.value;
const OUTPUT_BYTES_MAX = contractLimits.output.value;
/** A script that prints more than this is ended with its container. */
const READ_BYTES_MAX = contractLimits.outputEnd.value;
const LOGGED_CHARS_MAX = 2000;
/** A script that fails needs this part of the processes: one of so many. */
const CROWDED = contractLimits.crowded.value;
const SHELL = '/bin/sh';
const SCRIPT = '/run.sh';
/** Asks how the script can be run; the exit code is the answer. */
const QUESTION = [SHELL, '-c', `[ -x ${SCRIPT} ] && exit 0; [ -f ${SCRIPT} ] && exit 10; exit 11`];
const NOT_EXECUTABLE = 10;
const NO_SCRIPT = 11;
/** The engine found no such program in the container, or may not run it. */
const NO_SHELL = [126, 127];

export function execInterface(
  { rest, pidsMax }: ExecOptions,
  { engine, log }: ExecDeps,
): ContainerInterface {
  return {
    needsNetwork: rest !== undefined,
    async open({ network }) {
      const host = rest?.host ?? network?.gateway;
      const isServed = rest !== undefined && host !== undefined;
      const env = isServed ? nodeVariables(host, await rest.port) : {};
      return session(env, pidsMax, { engine, log });
    },
    close: async () => {},
  };
}

function nodeVariables(host: string, port: number): Record<string, string> {
  return { NODE: host, NODE_PORT: String(port), NODE_API: `http://${host}:${port}` };
}

function session(
  env: Record<string, string>,
  pidsMax: number,
  { engine, log }: ExecDeps,
): ContainerSession {
  let container = '';
  let command = [SCRIPT];
  let running = 0;

  /** Scripts may leave processes. Where they are too many, the next one fails, whatever it is called for. */
  async function isCrowded(exitCode: number, signal: AbortSignal): Promise<boolean> {
    if (exitCode === 0 || exitCode === BUSINESS_ERROR) return false;
    const processes = (await engine.processes(container, signal)) ?? 0;
    return processes > pidsMax - pidsMax / CROWDED;
  }

  /** Runs a command and reads what it prints. */
  async function execute(
    used: readonly string[],
    variables: readonly string[],
    signal: AbortSignal,
  ): Promise<{ exitCode: number; output: Output }> {
    const execId = await engine.exec(container, { command: used, env: variables }, signal);
    const pieces = await engine.startExec(execId, signal);
    const output = await readOutput(pieces, OUTPUT_BYTES_MAX, READ_BYTES_MAX);
    return { exitCode: await engine.exitCode(execId, signal), output };
  }

  return {
    setup: { env, mounts: [] },
    async ready(containerId, signal) {
      container = containerId;
      const exitCode = await execute(QUESTION, [], signal).then(
        (done) => done.exitCode,
        (cause: unknown) => {
          if (cause instanceof EngineRefusal && !cause.isShortage) return cause;
          throw cause;
        },
      );
      // Where the container ends meanwhile, the engine refuses, or answers with the same codes.
      const hasEnded = exitCode !== 0 && (await engine.end(containerId)) !== undefined;
      if (hasEnded) throw new Failed(ofContract('The container does not start'));
      if (exitCode instanceof EngineRefusal) throw exitCode;
      if (NO_SHELL.includes(exitCode)) throw new Failed(lasting(`The image has no ${SHELL}`));
      if (exitCode === NO_SCRIPT) throw new Failed(lasting(`The image has no ${SCRIPT}`));
      if (exitCode === NOT_EXECUTABLE) command = [SHELL, SCRIPT];
    },
    async run(execution, signal) {
      const variables = callVariables(execution);
      if (variables === undefined) return TOO_LONG;
      running += 1;
      try {
        const { exitCode, output } = await execute(command, variables, signal);
        logErrors(output, execution, log);
        if (!(await isCrowded(exitCode, signal))) return judged(exitCode, output);
        // Only alone it shows whether calls have left them, and the container is then of no use.
        if (running > 1) return OF_OTHERS;
        throw LEFT_BEHIND;
      } catch (cause) {
        if (cause instanceof EndlessOutput) throw brokenCall('The contract prints without end');
        throw cause;
      } finally {
        running -= 1;
      }
    },
    // The owner waits for the end of the container itself.
    ended: new Promise(() => {}),
    close: async () => {},
  };
}

const LEFT_BEHIND = new Failed(ofContract('Processes that calls have left fill the container'));
const OF_OTHERS = ofContract('Processes of other calls fill the container');
const TOO_LONG = wrongResult('The transaction is too long for the environment of a process');

function judged(exitCode: number, output: Output): ContractOutcome {
  if (output.isCut) return wrongResult(`The contract printed more than ${OUTPUT_BYTES_MAX} bytes`);
  return execResult(exitCode, output.stdout);
}

/** Undefined where the transaction does not fit. */
function callVariables({ transaction, token }: ContractExecution): readonly string[] | undefined {
  const variables = [
    `COMMAND=${transaction.data.kind === 'create' ? 'CREATE' : 'CALL'}`,
    `TX=${transaction.json()}`,
    `API_TOKEN=${token}`,
  ];
  const fits = variables.every((text) => Buffer.byteLength(text) <= VARIABLE_BYTES_MAX);
  return fits ? variables : undefined;
}

function logErrors({ stderr }: Output, { transaction }: ContractExecution, log: Log): void {
  if (stderr.length === 0) return;
  const text = Buffer.from(stderr).toString().slice(0, LOGGED_CHARS_MAX);
  log.debug('contract.stderr', { contract: transaction.contractId, tx: transaction.id, text });
}
