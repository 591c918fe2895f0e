/** The facts that a node shows when it starts: a screen for a person, an event for a machine. */
import { listenerText } from '../../adapters/http/listener.ts';
import { base58 } from '../../base/base58.ts';
import { stringify } from '../../base/json/json.ts';
import type { HttpServer } from '../../base/ports/http.ts';
import type { Log } from '../../base/ports/log.ts';
import { type Block, blockId } from '../../block/block.ts';
import { givenSettings } from '../../node/config/document.ts';
import type { Config } from '../../node/config/settings.ts';
import { hostInUrl } from '../telemetry.ts';
import { colour } from './output.ts';

export interface StartFacts {
  readonly version: string;
  readonly chainId: string;
  readonly genesisId: string;
  readonly owner: string;
  readonly consensus: string;
  /** Time between blocks, as configured. */
  readonly round: string;
  readonly mining: boolean;
  readonly height: number;
  /** The container engine in which contracts are executed; absent: none. */
  readonly engine?: string;
  /** `host:port`; absent where the interface is off. */
  readonly rest?: string;
  readonly tls?: boolean;
  /** What serves it. */
  readonly listener?: string;
  readonly metrics?: string;
  readonly data: string;
}

export function startFacts(
  config: Config,
  genesis: Block,
  running: {
    readonly version: string;
    readonly height: number;
    readonly rest: HttpServer | undefined;
    readonly metrics: string | undefined;
    readonly executes: boolean;
  },
): StartFacts {
  const { consensus, custom } = config.blockchain;
  const { rest, metrics } = running;
  const { bindAddress, tls } = config.restApi;
  return {
    version: running.version,
    chainId: custom.addressSchemeCharacter,
    genesisId: base58.encode(blockId(genesis)),
    owner: config.ownerAddress,
    consensus: consensus.type,
    round:
      consensus.type === 'pos'
        ? custom.genesis.averageBlockDelay.text
        : `${consensus.roundDuration.text} + ${consensus.syncDuration.text}`,
    mining: config.miner.enable && config.network.mode !== 'watcher',
    height: running.height,
    ...(running.executes ? { engine: config.dockerEngine.dockerHost } : {}),
    ...(rest === undefined
      ? {}
      : {
          rest: `${hostInUrl(bindAddress)}:${rest.port}`,
          tls: tls.cert !== undefined,
          listener: listenerText,
        }),
    ...(metrics === undefined ? {} : { metrics }),
    data: config.dataDirectory,
  };
}

/** Prints a screen on a terminal, else logs the event `node.started`. */
export function sayStarted(facts: StartFacts, log: Log, terminal: boolean): void {
  if (terminal) process.stderr.write(startScreen(facts));
  else log.info('node.started', { ...facts });
}

/** The settings that were given, with secrets masked; all others have their defaults. */
export function settingsScreen(config: Config, given: { has(key: string): boolean }): string {
  const rows = Object.entries(givenSettings(config, given));
  const lines = rows.map(([key, value]) => `  ${key} = ${stringify(value)}\n`);
  return `\n  ${colour('bold', 'Settings')}\n\n${lines.join('')}\n`;
}

const LABEL_WIDTH = 13;
const NAMES: Readonly<Record<string, string>> = {
  poa: 'proof of authority',
  pos: 'proof of stake',
};

export function startScreen(facts: StartFacts): string {
  const { rest, tls, metrics } = facts;
  const url = rest && `${tls === true ? 'https' : 'http'}://${rest}`;
  const rows: [label: string, value: string | undefined][] = [
    ['Network', `chain ${facts.chainId}, genesis block ${facts.genesisId}`],
    ['Owner', facts.owner],
    ['Consensus', `${NAMES[facts.consensus] ?? facts.consensus}, ${facts.round} a block`],
    ['Mining', facts.mining ? 'yes' : 'no'],
    ['Contracts', facts.engine === undefined ? 'not executed here' : `by ${facts.engine}`],
    ['Height', String(facts.height)],
    ['REST API', url ?? 'off'],
    ['Listener', url && facts.listener],
    ['Explorer', url && `${url}/explorer`],
    ['Metrics', metrics ?? 'off'],
    ['Data folder', facts.data],
  ];
  const lines = rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`  ${colour('dim', label.padEnd(LABEL_WIDTH))}${value}\n`],
  );
  return `\n  ${colour('bold', `platform-node ${facts.version}`)}\n\n${lines.join('')}\n`;
}
