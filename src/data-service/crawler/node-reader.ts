/**
 * The node as the crawler sees it: a few calls of its REST interface, through the client that
 * follows from the declarations of the routes. Of several nodes the first one that answers is used,
 * and kept until it fails.
 */
import { type Client, client, RefusedError } from '../../api/client.ts';
import { addressBalances } from '../../api/routes/address-balances.ts';
import { assets } from '../../api/routes/assets.ts';
import { blocks } from '../../api/routes/blocks.ts';
import { consensus } from '../../api/routes/consensus.ts';
import { node } from '../../api/routes/node.ts';
import type { HttpClient } from '../../base/http.ts';
import { isObject } from '../../base/json.ts';
import type { Clock } from '../../base/ports.ts';
import type { BanSettings } from '../../consensus/poa-bans.ts';
import { type ChainBlock, readBlock } from './chain-block.ts';
import { hasOnlyStorable, int64, objects, text } from './storable.ts';

/** No node of the list gives an answer. */
export class NodeAway extends Error {
  override name = 'NodeAway';
}

/** The amount of each asset of an address; `''` is the native coin. */
export type Holdings = ReadonlyMap<string, bigint>;

export interface NodeReader {
  height(): Promise<number>;
  /** Undefined above the last block. */
  signatureAt(height: number): Promise<string | undefined>;
  first(): Promise<ChainBlock>;
  /** Up to 100 blocks; fewer where the chain ends. `bytes` is the size of the answer. */
  blocks(from: number, to: number): Promise<{ blocks: ChainBlock[]; bytes: number }>;
  network(): Promise<{ chainId: string; version: string }>;
  /** Undefined under another consensus than proof of authority, or where the node does not say. */
  banSettings(): Promise<BanSettings | undefined>;
  holdings(addresses: readonly string[]): Promise<ReadonlyMap<string, Holdings>>;
}

export interface NodeReaderOptions {
  /** At least one. */
  readonly urls: readonly string[];
  readonly apiKey?: string | undefined;
}

export interface NodeReaderDeps {
  readonly http: HttpClient;
  readonly clock: Clock;
  /** Called with each failure of a node. */
  readonly failed: (url: string, why: string) => void;
}

const ANSWER_MS_MAX = 60_000;

export function nodeReader({ urls, apiKey }: NodeReaderOptions, deps: NodeReaderDeps): NodeReader {
  let current = 0;
  /** Whether the node has /blocks/seqext; undefined until it was asked. */
  let hasExtended: boolean | undefined;
  /** They never change. */
  let settings: { readonly of: BanSettings | undefined } | undefined;

  /** A refusal is an answer; only a node that gives none is left for the next one. */
  async function ask<T>(what: (call: Client['call']) => Promise<T>, http = deps.http): Promise<T> {
    const failures: string[] = [];
    for (let tried = 0; tried < urls.length; tried++) {
      const url = urls[current]!;
      const late = new AbortController();
      const cancel = deps.clock.after(ANSWER_MS_MAX, () => late.abort());
      try {
        return await what(client(http, url, { apiKey, signal: late.signal }).call);
      } catch (cause) {
        if (cause instanceof RefusedError && cause.status < 500) throw cause;
        const why = cause instanceof Error ? cause.message || cause.name : String(cause);
        failures.push(`${url}: ${why}`);
        deps.failed(url, why);
        current = (current + 1) % urls.length;
        hasExtended = undefined;
      } finally {
        cancel();
      }
    }
    throw new NodeAway(failures.join('; '));
  }

  async function range(from: number, to: number, http: HttpClient): Promise<unknown> {
    const params = { from, to };
    if (hasExtended === false) return ask((call) => call(blocks.seq, { params }), http);
    try {
      const answer = await ask((call) => call(blocks.seqext, { params }), http);
      hasExtended = true;
      return answer;
    } catch (cause) {
      if (hasExtended === true || !(cause instanceof RefusedError) || cause.status !== 404) {
        throw cause;
      }
      hasExtended = false;
      return ask((call) => call(blocks.seq, { params }), http);
    }
  }

  return {
    height: () => ask(async (call) => (await call(blocks.height)).height),

    async signatureAt(height) {
      try {
        const header = await ask((call) => call(blocks.headerAt, { params: { height } }));
        return isObject(header) ? text(header['signature']) : undefined;
      } catch (cause) {
        if (cause instanceof RefusedError) return undefined;
        throw cause;
      }
    },

    first: () => ask(async (call) => readBlock(await call(blocks.first))),

    async blocks(from, to) {
      let bytes = 0;
      let isStorable = false;
      const http: HttpClient = {
        ...deps.http,
        async request(asked) {
          const answer = await deps.http.request(asked);
          bytes = answer.text.length;
          isStorable = hasOnlyStorable(answer.text);
          return answer;
        },
      };
      const answer = await range(from, to, http);
      const found = Array.isArray(answer) ? answer : [];
      return { blocks: found.map((block) => readBlock(block, isStorable)), bytes };
    },

    async network() {
      const config = await ask((call) => call(node.config));
      const fields: Record<string, unknown> = isObject(config) ? config : {};
      return { chainId: String(fields['chainId'] ?? ''), version: String(fields['version'] ?? '') };
    },

    async banSettings() {
      settings ??= { of: await readBanSettings(ask) };
      return settings.of;
    },

    async holdings(list) {
      const body = { addresses: [...list] };
      const native = await ask((call) => call(addressBalances.balanceDetailsOfMany, { body }));
      const others = await ask((call) => call(assets.balancesOfMany, { body }));
      return holdingsOf(native, others);
    },
  };
}

type Ask = <T>(what: (call: Client['call']) => Promise<T>) => Promise<T>;

async function readBanSettings(ask: Ask): Promise<BanSettings | undefined> {
  try {
    const given: unknown = await ask((call) => call(consensus.settings));
    const fields: Record<string, unknown> = isObject(given) ? given : {};
    const [banDurationBlocks, warningsForBan, maxBansPercentage] = [
      fields['banDurationBlocks'],
      fields['warningsForBan'],
      fields['maxBansPercentage'],
    ].map((value) => (Number.isSafeInteger(value) ? (value as number) : undefined));
    if (banDurationBlocks === undefined || warningsForBan === undefined) return undefined;
    return { banDurationBlocks, warningsForBan, maxBansPercentage: maxBansPercentage ?? 0 };
  } catch (cause) {
    if (cause instanceof RefusedError) return undefined;
    throw cause;
  }
}

function holdingsOf(native: unknown, others: unknown): ReadonlyMap<string, Holdings> {
  const found = new Map<string, Map<string, bigint>>();
  for (const details of objects(native)) {
    const address = text(details['address']);
    const amount = int64(details['regular']) ?? 0n;
    if (address !== undefined) found.set(address, new Map([['', amount]]));
  }
  for (const [address, held] of Object.entries(isObject(others) ? others : {})) {
    const holdings = found.get(address);
    for (const { assetId, balance } of objects(held)) {
      const amount = int64(balance) ?? 0n;
      if (typeof assetId === 'string' && amount > 0n) holdings?.set(assetId, amount);
    }
  }
  return found;
}
