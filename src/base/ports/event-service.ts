/**
 * The service of events over gRPC as a port: an adapter listens and speaks the protocol, the node
 * tells what happens.
 */

/**
 * A message by the names of its fields: integers as numbers or bigint, texts, bytes, lists and
 * messages. The adapter gives them the types of the protocol.
 */
export interface PlainMessage {
  readonly [field: string]: unknown;
}

/** Which transactions a client wants; all filters apply. */
export interface TransactionFilter {
  /** It wants those that the filter does not name. */
  readonly isOut: boolean;
  readonly types?: readonly number[] | undefined;
  readonly contracts?: readonly Uint8Array[] | undefined;
}

export interface SubscribeOn {
  readonly from: 'genesis' | 'now' | { readonly blockId: Uint8Array };
  readonly filters: readonly TransactionFilter[];
}

export interface Subscriber {
  /** Whose subscriptions are counted together. */
  readonly client: string;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** Resolves when the client has room for the next one; rejects where it takes too long. */
  write(event: PlainMessage): Promise<void>;
}

export interface EventService {
  /** Sends events until the client goes. Rejects with ApiError where the request is wrong. */
  subscribe(request: SubscribeOn, subscriber: Subscriber): Promise<void>;
  /** A subscription has been ended, since its client does not read. */
  endedSlow(): void;
}

export interface EventListener {
  readonly port: number;
  /** Ends all subscriptions. */
  close(): Promise<void>;
}

/** Rejects where the address cannot be bound. */
export type ListenEvents = (service: EventService) => Promise<EventListener>;
