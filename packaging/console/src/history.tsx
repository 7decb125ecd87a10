// SPDX-License-Identifier: Apache-2.0
// What an event database has recorded: runs, and the states that they have reached; the newest first.
import type { JSX } from 'preact';
import { usePages } from './api';
import { databases, historyPage, me, statePage, type HistoryRow, type StateRow } from './data';
import { OutcomeChip } from './marks';
import { changeQuery, hrefTo, place, useCell } from './store';
import { Table, type Column } from './table';
import { durationText, inputInstant, inputText } from './time';
import { Time } from './ui';
import { words } from './words';

export function HistoryPage(): JSX.Element {
  const t = words();
  return (
    <>
      <div class="head">
        <h1>{t.history}</h1>
      </div>
      <HistoryTable />
    </>
  );
}

const filterNames = ['ip', 'source', 'success', 'state', 'from', 'until'] as const;

/** Of one job, or of all. */
export function HistoryTable(p: { job?: string }): JSX.Element {
  const t = words();
  const here = useCell(place);
  const all = useCell(databases);
  const { version } = useCell(me);
  const database = here.query.has('records') ? '' : here.query.get('database') || all[0] || '';
  const view = database && here.query.get('view') === 'states' ? 'states' : 'runs';
  const sort = here.query.get('sort') || '-time';
  const filters: Record<string, string> = { job: p.job ?? here.query.get('job') ?? '' };
  for (const name of filterNames) filters[name] = here.query.get(name) ?? '';
  const shared = { job: p.job, database, filters, sort };
  if (!version && !here.query.has('records') && !database)
    // which databases there are, the server has not said yet
    return (
      <p class="muted" role="status">
        {t.loading}
      </p>
    );
  return (
    <>
      <div class="row">
        {database && (
          <div class="row" role="group" aria-label={t.show}>
            <button
              type="button"
              aria-pressed={view === 'runs'}
              onClick={() => changeQuery({ view: undefined, state: undefined, sort: undefined })}
            >
              {t.runs}
            </button>
            <button
              type="button"
              aria-pressed={view === 'states'}
              onClick={() => changeQuery({ view: 'states', success: undefined, sort: undefined })}
            >
              {t.states}
            </button>
          </div>
        )}
        {all.length > 0 ? (
          <>
            <label for="database">{t.source}</label>
            <select
              id="database"
              value={database}
              onChange={(e) => {
                const name = e.currentTarget.value;
                changeQuery({ database: name, records: name ? undefined : '1', sort: undefined });
              }}
            >
              {all.map((d) => (
                <option key={d}>{d}</option>
              ))}
              <option value="">{t.runRecords}</option>
            </select>
          </>
        ) : (
          <span class="muted">{t.fromRunRecords}</span>
        )}
        {(['from', 'until'] as const).map((end) => (
          <span class="row" key={end}>
            <label for={end}>{end === 'from' ? t.from : t.to}</label>
            <input
              id={end}
              type="datetime-local"
              value={inputText(filters[end] ?? '')}
              onChange={(e) => changeQuery({ [end]: inputInstant(e.currentTarget.value) })}
            />
          </span>
        ))}
      </div>
      {view === 'runs' ? <Runs key="runs" {...shared} /> : <States key="states" {...shared} />}
    </>
  );
}

interface Shared {
  job: string | undefined;
  database: string;
  filters: Record<string, string>;
  sort: string;
}

function sortingOf(p: Shared) {
  return {
    sorting: { column: p.sort.replace(/^-/, ''), down: p.sort.startsWith('-') },
    sort: (by: { column: string; down: boolean }) => changeQuery({ sort: (by.down ? '-' : '') + by.column }),
    filters: p.filters,
    filter: (column: string, value: string) => changeQuery({ [column]: value }),
  };
}

function Runs(p: Shared): JSX.Element {
  const t = words();
  const rows = usePages<HistoryRow>(
    JSON.stringify(['runs', place.get().registry, p.database, p.filters, p.sort]),
    (cursor, signal) => historyPage(p.database, { ...p.filters, sort: p.sort }, cursor, signal),
  );
  const outcomes: [string, string][] = [
    ['true', t.outcomes.success!],
    ['false', t.outcomes.failure!],
  ];
  const columns: Column<HistoryRow>[] = [
    { id: 'time', title: t.began, width: '170px', sort: true, cell: (h) => <Time at={h.began} /> },
    ...(p.job
      ? []
      : [
          {
            id: 'job',
            title: t.job,
            width: 'minmax(140px,1fr)',
            sort: true,
            filter: 'text' as const,
            cell: (h: HistoryRow) => (
              <a href={hrefTo(['jobs', h.job, 'history'])} tabIndex={-1}>
                {h.job}
              </a>
            ),
          },
        ]),
    { id: 'item', title: t.item, width: '80px', end: true, sort: true, cell: (h) => h.item },
    {
      id: 'success',
      title: t.outcome,
      width: '120px',
      sort: true,
      filter: outcomes,
      cell: (h) => <OutcomeChip outcome={h.outcome} />,
    },
    {
      id: 'duration',
      title: t.duration,
      width: '100px',
      end: true,
      cell: (h) => (h.ended ? durationText(Date.parse(h.ended) - Date.parse(h.began)) : '–'),
    },
    {
      id: 'source',
      title: t.source,
      width: '150px',
      sort: true,
      from: 1280,
      filter: sources,
      cell: (h) => <span class="muted">{h.source}</span>,
    },
    {
      id: 'ip',
      title: t.server,
      width: '130px',
      sort: true,
      filter: 'text',
      from: 900,
      cell: (h) => <span title={h.host}>{h.server}</span>,
    },
    {
      id: 'note',
      title: t.failure,
      width: 'minmax(120px,2fr)',
      from: 1000,
      cell: (h) => <span title={h.note}>{h.note}</span>,
    },
  ];
  return (
    <>
      <Table
        label={t.runs}
        columns={columns}
        rows={rows}
        keyOf={(h) => h.id}
        {...sortingOf(p)}
        compact={(h) => (
          <div class="compact">
            <div>
              <span class="cut">
                {p.job ? '' : h.job + ' / '}
                {h.item}
              </span>
              <OutcomeChip outcome={h.outcome} />
            </div>
            <div class="small muted">
              <span class="cut">{h.note || h.server}</span>
              <Time at={h.began} />
            </div>
          </div>
        )}
      />
      <div class="small muted" role="status">
        {t.loaded(rows.rows.length, rows.total, rows.complete)}
      </div>
    </>
  );
}

const sources: [string, string][] = ['NORMAL_TRIGGER', 'MISFIRE', 'FAILOVER'].map((s) => [s, s]);
const states: [string, string][] = ['STAGING', 'RUNNING', 'FINISHED', 'FAILED', 'ERROR', 'KILLED'].map((s) => [
  'TASK_' + s,
  'TASK_' + s,
]);

function States(p: Shared): JSX.Element {
  const t = words();
  const rows = usePages<StateRow>(
    JSON.stringify(['states', place.get().registry, p.database, p.filters, p.sort]),
    (cursor, signal) => statePage(p.database, { ...p.filters, sort: p.sort }, cursor, signal),
  );
  const columns: Column<StateRow>[] = [
    { id: 'time', title: t.time, width: '170px', sort: true, cell: (s) => <Time at={s.at} /> },
    ...(p.job
      ? []
      : [
          {
            id: 'job',
            title: t.job,
            width: 'minmax(140px,1fr)',
            sort: true,
            filter: 'text' as const,
            cell: (s: StateRow) => (
              <a href={hrefTo(['jobs', s.job, 'history'])} tabIndex={-1}>
                {s.job}
              </a>
            ),
          },
        ]),
    { id: 'item', title: t.items, width: '100px', sort: true, cell: (s) => <span title={s.items}>{s.items}</span> },
    {
      id: 'state',
      title: t.state,
      width: '150px',
      sort: true,
      filter: states,
      cell: (s) => <OutcomeChip outcome={s.state} />,
    },
    { id: 'ip', title: t.server, width: '130px', sort: true, filter: 'text', from: 900, cell: (s) => s.server },
    {
      id: 'note',
      title: t.note,
      width: 'minmax(140px,2fr)',
      from: 1000,
      cell: (s) => <span title={s.note}>{s.note}</span>,
    },
  ];
  return (
    <>
      <Table
        label={t.states}
        columns={columns}
        rows={rows}
        keyOf={(s) => s.id}
        {...sortingOf(p)}
        compact={(s) => (
          <div class="compact">
            <div>
              <span class="cut">
                {p.job ? '' : s.job + ' / '}
                {s.items}
              </span>
              <OutcomeChip outcome={s.state} />
            </div>
            <div class="small muted">
              <span class="cut">{s.note || s.server}</span>
              <Time at={s.at} />
            </div>
          </div>
        )}
      />
      <div class="small muted" role="status">
        {t.loaded(rows.rows.length, rows.total, rows.complete)}
      </div>
    </>
  );
}
