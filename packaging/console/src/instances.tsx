// SPDX-License-Identifier: Apache-2.0
// The instances of a job.
import type { JSX } from 'preact';
import { useGet } from './api';
import { give } from './command';
import { allowed, at, shutDownInstance, toInstances, type InstanceRow, type JobDetail } from './data';
import { useChangesOf } from './live';
import { go, hrefTo } from './store';
import { Table, listed, type Column } from './table';
import { Chip } from './ui';
import { words } from './words';

export function Instances(p: { job: JobDetail }): JSX.Element {
  const t = words();
  const { name } = p.job;
  const asked = useGet<unknown>(at('jobs', name, 'instances'));
  useChangesOf(name, asked.again);
  const all = asked.body === undefined ? [] : toInstances(asked.body);
  const columns: Column<InstanceRow>[] = [
    {
      id: 'id',
      title: t.instance,
      width: 'minmax(200px,2fr)',
      cell: (i) => (
        <span class="mono" title={i.id}>
          {i.id}
        </span>
      ),
    },
    { id: 'host', title: t.host, width: 'minmax(110px,1fr)', from: 800, cell: (i) => i.host || '–' },
    { id: 'state', title: t.state, width: 'minmax(150px,1fr)', cell: (i) => <InstanceState instance={i} /> },
    {
      id: 'items',
      title: t.items,
      width: '80px',
      end: true,
      cell: (i) => (
        <a tabIndex={-1} href={hrefTo(['jobs', name, 'items'], { owner: i.id })}>
          {i.itemCount}
        </a>
      ),
    },
    { id: 'weight', title: t.weight, width: '80px', end: true, from: 800, cell: (i) => i.weight },
    { id: 'labels', title: t.labels, width: 'minmax(100px,1fr)', from: 900, cell: (i) => i.labels || '–' },
    {
      id: 'do',
      title: t.shutDown,
      isNameless: true,
      width: '120px',
      end: true,
      cell: (i) =>
        allowed('command') && (
          <button type="button" class="danger" tabIndex={-1} onClick={() => shutDown(i)}>
            {t.shutDown}
          </button>
        ),
    },
  ];
  const shutDown = (i: InstanceRow) =>
    give({
      verb: t.shutDown,
      subjects: [i.id],
      isGrave: true,
      done: asked.again,
      send: (subject, by) => shutDownInstance(name, subject, by),
    });
  return (
    <Table
      label={t.instances}
      columns={columns}
      rows={listed(all, asked.fault?.message, asked.busy)}
      keyOf={(i) => i.id}
      rowHeight={36}
      open={(i) => go(['servers', i.server])}
      compact={(i) => (
        <div class="compact">
          <div>
            <span class="mono cut">{i.id}</span>
            <span>{i.itemCount}</span>
          </div>
          <div>
            <InstanceState instance={i} />
            {i.host && <span class="small muted cut">{i.host}</span>}
            {allowed('command') && (
              <button type="button" class="danger" onClick={() => shutDown(i)}>
                {t.shutDown}
              </button>
            )}
          </div>
        </div>
      )}
    />
  );
}

function InstanceState(p: { instance: InstanceRow }): JSX.Element {
  const t = words();
  const i = p.instance;
  return (
    <span class="row">
      {i.isLeader && <Chip tone="run">{t.leader}</Chip>}
      {i.isDisabled && <Chip tone="idle">{t.disabled}</Chip>}
      {i.isPaused && <Chip tone="warn">{t.paused}</Chip>}
      {i.isLeftOver && <Chip tone="bad">{t.leftOver}</Chip>}
      {i.isTriggered && <Chip tone="warn">{t.triggered}</Chip>}
      {i.isJava && <Chip tone="idle">{t.java}</Chip>}
      {!(i.isLeader || i.isDisabled || i.isPaused || i.isLeftOver || i.isTriggered || i.isJava) && (
        <Chip tone="good">{t.healths.ok}</Chip>
      )}
    </span>
  );
}
