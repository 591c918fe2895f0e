/**
 * The node as the crawler sees it: a few calls of its REST interface, through the client that
 * follows from the declarations of the routes. Of several nodes the first one that answers is used,
 * and kept until it fails. What must come from one node is asked of a reader of it alone.
 */

import { withTimeout } from '../../base/deadline.ts';
import { isObject, type JsonObject } from '../../base/json/json.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { AnswerTooLong, type HttpClient } from '../../base/ports/http.ts';
import type { BanSettings } from '../../consensus/poa-bans.ts';
import { addressBalances } from '../../rest/routes/address-balances.ts';
import { assets } from '../../rest/routes/assets.ts';
import { blocks } from '../../rest/routes/blocks.ts';
import { consensus } from '../../rest/routes/consensus.ts';
import { node } from '../../rest/routes/node.ts';
import {
  type Client,
  type ClientOptions,
  client,
  RefusedError,
} from '../../rest-framework/client.ts';
import { withMemberRows } from './block-members.ts';
import { blockInParts } from './block-parts.ts';
import { type ChainBlock, NotABlock, readBlock } from './chain-block.ts';
import { type Holdings, holdingsInParts, holdingsOf } from './holdings.ts';
import { hasOnlyStorable, text } from './storable.ts';

/** No node of the list gives an answer. */
export class NodeAway extends Error {
  override name = 'NodeAway';
}

/** The answer would be too long. */
export class TooMuch extends Error {
  override name = 'TooMuch';
}

export interface NodeReaderOptions {
  /** At least one. */
  readonly urls: readonly string[];
  readonly apiKey?: string | undefined;
}

export interface NodeReaderDeps {
  readonly http: HttpClient;
  readonly clock: Clock;
  /** Called with each failure of a node; the address has no credentials. */
  readonly failed: (url: string, why: string) => void;
}

const ANSWER_MS_MAX = 60_000;
/** Each takes some tens of bytes, so four answers of a hostile node fit into the memory. */
const ANSWER_VALUES_MAX = 4_000_000;
/** Refused as too long, overloaded, or cut off. */
const TOO_MUCH = [400, 413];
/** A node under another consensus, or of a release without this call. */
const NO_SETTINGS = [400, 404];
/** A node may keep its status for those with a key, and has none while it is not well. */
const NOT_SHOWN = [401, 403, 404, 503];

export class NodeReader {
  private readonly urls: readonly string[];
  private readonly access: ClientOptions;
  private readonly deps: NodeReaderDeps;
  /** A reader of each node. They tell what fails, so that this one leaves their node, too. */
  private readonly readers: readonly NodeReader[];
  /** Whether a node has /blocks/seqext; undefined until it was asked. */
  private readonly hasExtended = new Map<number, boolean>();
  private current = 0;
  private readonly stopping = new AbortController();
  /** They never change. */
  private settings: { readonly of: BanSettings | undefined } | undefined;

  constructor({ urls, apiKey }: NodeReaderOptions, deps: NodeReaderDeps) {
    this.urls = urls;
    this.access = { apiKey, valuesMax: ANSWER_VALUES_MAX };
    this.deps = deps;
    this.readers =
      urls.length === 1
        ? [this]
        : urls.map((url, which) => {
            const failed = (_: string, why: string): void => this.leaveNode(which, why);
            return new NodeReader({ urls: [url], apiKey }, { ...deps, failed });
          });
  }

  /** A reader of each node alone, beginning with the one that is asked now. */
  each(): readonly NodeReader[] {
    return [...this.readers.slice(this.current), ...this.readers.slice(0, this.current)];
  }

  /** The next node is asked from now on. */
  leave(why: string): void {
    this.leaveNode(this.current, why);
  }

  /** What is asked ends at once, and nothing more is asked: a node may take any time to answer. */
  stop(): void {
    this.stopping.abort();
    for (const reader of this.readers) if (reader !== this) reader.stop();
  }

  height(): Promise<number> {
    return this.ask(async (call) => heightOf((await call(blocks.height)).height));
  }

  /** Of the final block; 0 where there is none. */
  finalHeight(): Promise<number> {
    return this.ask(async (call) => finalHeightOf(await call(node.status)));
  }

  /** The same; 0 also where the node does not give its status. */
  async shownFinalHeight(): Promise<number> {
    try {
      const handled = NOT_SHOWN;
      return await this.ask(async (call) => finalHeightOf(await call(node.status)), { handled });
    } catch (cause) {
      if (cause instanceof RefusedError) return 0;
      throw cause;
    }
  }

  /** Undefined above the last block. */
  signatureAt(height: number): Promise<string | undefined> {
    return this.ask(async (call) => {
      const header = await call(blocks.headerAt, { params: { height } });
      return isObject(header) ? text(header['signature']) : undefined;
    });
  }

  /**
   * Up to 100 blocks; fewer where the chain ends. `bytes` is the size of the answer. Throws TooMuch
   * where so many blocks are too long for one answer; a single block comes in parts then, of which
   * `bytes` has the first one. Taking the others throws NodeAway, too.
   */
  async blocks(from: number, to: number): Promise<{ blocks: ChainBlock[]; bytes: number }> {
    try {
      return await this.readRange(from, to, from === to ? [413] : TOO_MUCH);
    } catch (cause) {
      if (!isTooMuch(cause)) throw cause;
      if (from < to) throw new TooMuch(cause.message);
      return this.readInParts(from);
    }
  }

  /** `chainId` is not empty. */
  network(): Promise<{ chainId: string; version: string }> {
    return this.ask(async (call) => networkOf(await call(node.config)));
  }

  /** Undefined under another consensus than proof of authority, or where the node does not say. */
  async banSettings(): Promise<BanSettings | undefined> {
    this.settings ??= { of: await this.readBanSettings() };
    return this.settings.of;
  }

  /** Without those that the node leaves out. Throws TooMuch where these are too many for one answer. */
  async holdings(addresses: readonly string[]): Promise<ReadonlyMap<string, Holdings>> {
    const body = { addresses: [...addresses] };
    try {
      // Of one node, since two may be at different blocks.
      return await this.ask(
        async (call) =>
          holdingsOf(
            await call(addressBalances.balanceDetailsOfMany, { body }),
            await call(assets.balancesOfMany, { body }),
          ),
        { handled: TOO_MUCH },
      );
    } catch (cause) {
      throw isTooMuch(cause) ? new TooMuch(cause.message) : cause;
    }
  }

  /** Those of one address that has too many assets for one answer. */
  holdingsInParts(address: string): Promise<Holdings> {
    return this.ask((call) => holdingsInParts(call, address));
  }

  private leaveNode(which: number, why: string): void {
    if (this.stopping.signal.aborted) return;
    this.deps.failed(shownUrl(this.urls[which]!), why);
    // Requests that were under way together leave it once.
    if (this.current === which) this.current = (which + 1) % this.urls.length;
  }

  /** A node that gives no answer, another one than it should, or a refusal, is left for the next. */
  private async ask<T>(
    what: (call: Client['call'], which: number) => Promise<T>,
    { handled = [], http = this.deps.http }: Asking = {},
  ): Promise<T> {
    const failures: string[] = [];
    const start = this.current;
    const { signal } = this.stopping;
    for (let tried = 0; tried < this.urls.length && !signal.aborted; tried++) {
      const which = (start + tried) % this.urls.length;
      const url = this.urls[which]!;
      try {
        const asking = limited(http, this.deps.clock, signal);
        return await what(client(asking, url, this.access).call, which);
      } catch (cause) {
        if (signal.aborted) break;
        if (cause instanceof RefusedError && handled.includes(cause.status)) throw cause;
        if (cause instanceof AnswerTooLong && handled.includes(413)) throw cause;
        const why = cause instanceof Error ? cause.message || cause.name : String(cause);
        failures.push(`${shownUrl(url)}: ${why}`);
        this.leaveNode(which, why);
      }
    }
    throw new NodeAway(failures.join('; '));
  }

  /** From the older call where a node does not have the newer one. */
  private async range(call: Client['call'], which: number, from: number, to: number) {
    const params = { from, to };
    if (this.hasExtended.get(which) !== false) {
      try {
        const answer = await call(blocks.seqext, { params });
        this.hasExtended.set(which, true);
        return answer;
      } catch (cause) {
        const isAbsent = cause instanceof RefusedError && cause.status === 404;
        if (!isAbsent || this.hasExtended.get(which) === true) throw cause;
        this.hasExtended.set(which, false);
      }
    }
    return call(blocks.seq, { params });
  }

  private async readRange(from: number, to: number, handled: readonly number[]) {
    const { http, read } = readingClient(this.deps);
    const found = await this.ask(
      async (call, which) => {
        const answer = await this.range(call, which, from, to);
        return blocksOf(answer, read.isStorable, { from, to });
      },
      { handled, http },
    );
    return { blocks: found, bytes: read.lastBytes };
  }

  /** The parts after the first one come of the same node, while the block is used. */
  private async readInParts(height: number) {
    const { http, read } = readingClient(this.deps);
    const used = { bytes: () => read.bytes, ms: () => read.ms };
    const { block, which } = await this.ask(
      async (call, which) => ({ block: await blockInParts(call, height, used), which }),
      { http },
    );
    const { further } = block;
    if (further === undefined) return { blocks: [block], bytes: read.lastBytes };
    const parts = leaving(further, (why) => this.leaveNode(which, why));
    return { blocks: [{ ...block, further: parts }], bytes: read.lastBytes };
  }

  private async readBanSettings(): Promise<BanSettings | undefined> {
    try {
      return banSettingsOf(
        await this.ask((call) => call(consensus.settings), { handled: NO_SETTINGS }),
      );
    } catch (cause) {
      if (cause instanceof RefusedError) return undefined;
      throw cause;
    }
  }
}

/** Scheme, host and port: a user and a password, or a path, are nobody else's business. */
const shownUrl = (url: string): string => (URL.canParse(url) ? new URL(url).origin : 'node-url');

interface Asking {
  /** Refusals with these statuses are an answer; another node would give the same. */
  readonly handled?: readonly number[];
  readonly http?: HttpClient;
}

/** A client that waits a minute for each answer, and no longer than until the stop. */
const limited = (http: HttpClient, clock: Clock, stopped: AbortSignal): HttpClient => ({
  ...http,
  request: (asked) =>
    withTimeout(clock, ANSWER_MS_MAX, stopped, (signal) => http.request({ ...asked, signal })),
});

/** Each part; a failure of the node is one of the reader. */
async function* leaving(
  parts: AsyncIterable<readonly JsonObject[]>,
  leave: (why: string) => void,
): AsyncGenerator<readonly JsonObject[]> {
  try {
    yield* parts;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    leave(why);
    throw new NodeAway(why);
  }
}

/** A client that tells what it has read. */
function readingClient({ http: inner, clock }: NodeReaderDeps) {
  const read = { bytes: 0, lastBytes: 0, ms: 0, isStorable: false };
  const http: HttpClient = {
    ...inner,
    async request(asked) {
      const start = clock.monotonic();
      const answer = await inner.request(asked).finally(() => {
        read.ms += clock.monotonic() - start;
      });
      read.lastBytes = answer.text.length;
      read.bytes += read.lastBytes;
      read.isStorable = hasOnlyStorable(answer.text);
      return answer;
    },
  };
  return { http, read };
}

const isTooMuch = (cause: unknown): cause is Error =>
  cause instanceof AnswerTooLong ||
  (cause instanceof RefusedError && TOO_MUCH.includes(cause.status));

function heightOf(given: unknown): number {
  if (Number.isSafeInteger(given) && (given as number) >= 0) return given as number;
  throw new NotABlock(`the node gave no height but ${JSON.stringify(given)?.slice(0, 200)}`);
}

const finalHeightOf = ({ finalHeight }: { readonly finalHeight?: number }): number =>
  finalHeight === undefined ? 0 : heightOf(finalHeight);

function networkOf(config: unknown): { chainId: string; version: string } {
  const fields: Record<string, unknown> = isObject(config) ? config : {};
  const chainId = text(fields['chainId']) ?? '';
  if (chainId === '') throw new Error('the node does not tell its chain id');
  return { chainId, version: text(fields['version']) ?? '' };
}

/** At most those that were asked for, from the first one on. Throws NotABlock. */
function blocksOf(
  answer: unknown,
  isStorable: boolean,
  { from, to }: { readonly from: number; readonly to: number },
): ChainBlock[] {
  const found = (Array.isArray(answer) ? answer : []).map((block) => readBlock(block, isStorable));
  const isAsked = found.every(({ height }, i) => height === from + i && height <= to);
  if (!isAsked) throw new NotABlock(`the node gave other blocks than ${from} to ${to}`);
  return found.map(withMemberRows);
}

function banSettingsOf(given: unknown): BanSettings | undefined {
  const fields: Record<string, unknown> = isObject(given) ? given : {};
  const [banDurationBlocks, warningsForBan, maxBansPercentage] = [
    fields['banDurationBlocks'],
    fields['warningsForBan'],
    fields['maxBansPercentage'],
  ].map((value) => (Number.isSafeInteger(value) ? (value as number) : undefined));
  if (banDurationBlocks === undefined || warningsForBan === undefined) return undefined;
  return { banDurationBlocks, warningsForBan, maxBansPercentage: maxBansPercentage ?? 0 };
}
