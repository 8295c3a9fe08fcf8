-- Where rows of split cost allocation wait until their slice is sealed.
CREATE TEMP TABLE stage_pod (
    period text NOT NULL, parent_key text NOT NULL, resource_id text NOT NULL, is_accelerator boolean NOT NULL, is_gpu boolean NOT NULL,
    share_from timestamptz NOT NULL, share_to timestamptz NOT NULL, usage numeric, split_cost numeric, unused_cost numeric
) ON COMMIT DROP
