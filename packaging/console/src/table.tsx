// SPDX-License-Identifier: Apache-2.0
// A table that draws, and asks for, only the rows that are in sight.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { narrow, useCell } from './store';
import { words } from './words';

export type Filter = 'text' | 'range' | [string, string][];

/** Rows that may be loaded when they are wanted. */
export interface Rows<R> {
  /** How many can be scrolled to; the last ones may have to be loaded first. */
  count: number;
  at(index: number): R | undefined;
  want(first: number, end: number): void;
  fault?: string | undefined;
  busy?: boolean;
}

export interface Column<R> {
  id: string;
  title: string;
  /** A track of a CSS grid. */
  width: string;
  cell(row: R): ComponentChildren;
  end?: boolean;
  /** What the title stands for. */
  hint?: string;
  /** Its title is for screen readers only. */
  isNameless?: boolean;
  /** Shown from this width of the page, in pixels. */
  from?: number;
  sort?: boolean;
  /** An input for a part of a text or for a range of numbers, or a choice of [value, text]. */
  filter?: Filter;
}

export interface Sorting {
  column: string;
  down: boolean;
}

interface Properties<R> {
  label: string;
  columns: Column<R>[];
  rows: Rows<R>;
  keyOf(row: R): string;
  open?(row: R): void;
  href?(row: R): string;
  /** How a row looks on a phone. */
  compact?(row: R): ComponentChildren;
  selected?: Set<string>;
  select?(keys: Set<string>): void;
  sorting?: Sorting | undefined;
  sort?(by: Sorting): void;
  filters?: Record<string, string>;
  filter?(column: string, value: string): void;
  none?: string;
  rowHeight?: number;
  /** As high as its rows, up to this many. */
  shortUpTo?: number;
}

const beyond = 8; // rows drawn above and below what is in sight

export function Table<R>(p: Properties<R>): JSX.Element {
  const t = words();
  const isNarrow = useCell(narrow);
  const body = useRef<HTMLDivElement>(null);
  const focusWanted = useRef(false);
  const [view, setView] = useState({ top: 0, height: 600, width: innerWidth });
  const [active, setActive] = useState(0);
  const compact = isNarrow ? p.compact : undefined;
  const rowHeight = compact ? 56 : (p.rowHeight ?? 30);
  const columns = p.columns.filter((c) => !c.from || view.width >= c.from);
  const tracks = (p.select ? '30px ' : '') + (compact ? 'minmax(0,1fr)' : columns.map((c) => c.width).join(' '));

  useLayoutEffect(() => {
    const element = body.current;
    if (!element) return undefined;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight, width: innerWidth });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - beyond);
  const end = Math.min(p.rows.count, Math.ceil((view.top + view.height) / rowHeight) + beyond);
  useEffect(() => p.rows.want(first, end), [first, end, p.rows]);

  useLayoutEffect(() => {
    if (!focusWanted.current) return;
    focusWanted.current = false;
    body.current?.querySelector<HTMLElement>('.item.active')?.focus({ preventScroll: true });
  }, [active]);
  const focusRow = (wanted: number) => {
    const index = Math.max(0, Math.min(p.rows.count - 1, wanted));
    focusWanted.current = index !== active;
    setActive(index);
    const element = body.current;
    if (!element) return;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  };
  const toggle = (row: R | undefined) => {
    if (!row || !p.select) return;
    const keys = new Set(p.selected);
    const key = p.keyOf(row);
    if (!keys.delete(key)) keys.add(key);
    p.select(keys);
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).getAttribute('role') !== 'row') return;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      j: active + 1,
      ArrowUp: active - 1,
      k: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: p.rows.count - 1,
    };
    const step = steps[e.key];
    const row = p.rows.at(active);
    if (step !== undefined) focusRow(step);
    else if (e.key === 'Enter' && row && p.open) p.open(row);
    else if ((e.key === ' ' || e.key === 'x') && p.select) toggle(row);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };

  // The row with the focus stays in the document, so that the focus is not lost when it is scrolled away.
  const drawn = Array.from({ length: Math.max(0, end - first) }, (_, n) => first + n);
  if (active < p.rows.count && (active < first || active >= end)) drawn.push(active);
  const shown = drawn.map((index) => {
    const row = p.rows.at(index);
    const key = row && p.keyOf(row);
    const isSelected = key !== undefined && p.selected?.has(key);
    const selection = p.select ? { 'aria-selected': isSelected ? ('true' as const) : ('false' as const) } : {};
    return (
      <div
        key={index} // a row keeps the focus when it is loaded
        role="row"
        tabIndex={index === active ? 0 : -1}
        aria-rowindex={index + 2}
        {...selection}
        class={'line item' + (index === active ? ' active' : '')}
        style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px`, gridTemplateColumns: tracks }}
        onFocus={() => setActive(index)}
        onClick={(e: MouseEvent) => {
          setActive(index);
          if (row && p.open && !(e.target as Element).closest('a,button,input')) p.open(row);
        }}
      >
        {p.select && (
          <div role="gridcell" class="cell tick">
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={t.select(key ?? '')}
              checked={!!isSelected}
              onChange={() => toggle(row)}
            />
          </div>
        )}
        {compact ? (
          <div role="gridcell" class="cell">
            {row ? compact(row) : <i class="ghost" />}
          </div>
        ) : (
          columns.map((c) => (
            <div role="gridcell" key={c.id} class={'cell' + (c.end ? ' end' : '')}>
              {row ? c.cell(row) : <i class="ghost" />}
            </div>
          ))
        )}
      </div>
    );
  });

  const allLoaded = p.select && p.rows.count > 0;
  const short = p.shortUpTo !== undefined;
  const bodyHeight = short ? { height: `${Math.max(1, Math.min(p.rows.count, p.shortUpTo!)) * rowHeight + 1}px` } : {};
  return (
    <div class={'grid' + (short ? ' short' : ' fill')}>
      <div
        class="cells"
        role="grid"
        aria-label={p.label}
        aria-rowcount={p.rows.count + 1}
        aria-multiselectable={p.select ? 'true' : undefined}
        aria-busy={p.rows.busy ? 'true' : 'false'}
      >
        <div role="rowgroup" class="titles">
          <div role="row" aria-rowindex={1} class="line" style={{ gridTemplateColumns: tracks }}>
            {p.select && (
              <div role="columnheader" class="cell tick">
                <input
                  type="checkbox"
                  aria-label={t.selectLoaded}
                  disabled={!allLoaded}
                  checked={!!p.selected?.size}
                  onChange={() => {
                    const keys = new Set<string>();
                    if (!p.selected?.size)
                      for (let i = 0; i < p.rows.count; ++i) {
                        const row = p.rows.at(i);
                        if (row) keys.add(p.keyOf(row));
                      }
                    p.select!(keys);
                  }}
                />
              </div>
            )}
            {compact ? (
              <div role="columnheader" class="cell">
                {p.label}
              </div>
            ) : (
              columns.map((c) => {
                const by = p.sorting?.column === c.id ? p.sorting : undefined;
                return (
                  <div
                    role="columnheader"
                    key={c.id}
                    title={c.hint}
                    class={'cell' + (c.end ? ' end' : '')}
                    aria-sort={by ? (by.down ? 'descending' : 'ascending') : undefined}
                  >
                    {c.isNameless ? (
                      <span class="hidden">{c.title}</span>
                    ) : c.sort && p.sort ? (
                      <button type="button" onClick={() => p.sort!({ column: c.id, down: by ? !by.down : false })}>
                        {c.title}
                        <span aria-hidden="true">{by ? (by.down ? '↓' : '↑') : ''}</span>
                      </button>
                    ) : (
                      c.title
                    )}
                    {p.filter && c.filter && (
                      <FilterField
                        title={c.title}
                        filter={c.filter}
                        value={p.filters?.[c.id] ?? ''}
                        change={(v) => p.filter!(c.id, v)}
                      />
                    )}
                  </div>
                );
              })
            )}
          </div>
        </div>
        <div
          role="rowgroup"
          class={'body' + (p.rows.count ? '' : ' empty')}
          ref={body}
          style={bodyHeight}
          onScroll={(e) => {
            const element = e.currentTarget;
            setView({ top: element.scrollTop, height: element.clientHeight, width: innerWidth });
          }}
          onKeyDown={onKey}
        >
          <div class="space" role="presentation" style={{ height: `${p.rows.count * rowHeight}px` }}>
            {shown}
          </div>
        </div>
      </div>
      {p.rows.fault ? (
        <div class="none" role="alert">
          {p.rows.fault}
        </div>
      ) : p.rows.count === 0 ? (
        <div class="none" role="status">
          {p.rows.busy ? t.loading : (p.none ?? t.nothing)}
        </div>
      ) : null}
    </div>
  );
}

/** A filter that waits for a pause in typing. */
export function FilterField(p: {
  title: string;
  filter: Filter;
  value: string;
  change(value: string): void;
  id?: string;
}): JSX.Element {
  const t = words();
  const [text, setText] = useState(p.value);
  const timer = useRef(0);
  useEffect(() => setText(p.value), [p.value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (typeof p.filter !== 'string')
    return (
      <select aria-label={t.filterBy(p.title)} value={p.value} onChange={(e) => p.change(e.currentTarget.value)}>
        <option value="">{t.any}</option>
        {p.filter.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    );
  return (
    <input
      type="search"
      id={p.id}
      aria-label={t.filterBy(p.title)}
      placeholder={p.id ? t.filterBy(p.title) : p.filter === 'range' ? '2-10' : '…'}
      title={p.filter === 'range' ? t.rangeHint : undefined}
      value={text}
      onInput={(e) => {
        const value = e.currentTarget.value;
        setText(value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => p.change(value.trim()), 200);
      }}
    />
  );
}

/** Rows that are all there. */
export function listed<R>(rows: R[], fault?: string, busy = false): Rows<R> {
  return { count: rows.length, at: (i: number) => rows[i], want: () => undefined, fault, busy };
}
