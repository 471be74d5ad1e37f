# `bestgroup serve` in a small image that runs as nobody in particular. Untried here: no engine to build it; hadolint finds nothing.
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt hatch_build.py README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/bestgroup \
    && /opt/bestgroup/bin/pip install --no-cache-dir --constraint constraints.txt '.[server,postgres]'

FROM python:3.11-slim
COPY --from=build /opt/bestgroup /opt/bestgroup
RUN useradd --uid 10001 --create-home --home-dir /data bestgroup
USER 10001
WORKDIR /data
VOLUME /data
ENV PATH=/opt/bestgroup/bin:$PATH BESTGROUP_CACHE=/data/.cache
EXPOSE 8350
HEALTHCHECK --interval=30s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8350/healthz', timeout=2)"]
# BESTGROUP_TOKEN and BESTGROUP_READER_TOKEN must be set: off loopback nothing is served without them.
ENTRYPOINT ["bestgroup"]
CMD ["serve", "--host", "0.0.0.0", "--storage", "sqlite:////data/bestgroup.db"]
