# ruff: noqa: E501  (a pattern stays readable in one piece)
"""What Python, pip and the packages around torch print."""

from __future__ import annotations

from agent.tables.signatures import Signature

ROWS: tuple[Signature, ...] = (
    Signature(
        "numpy_1_module",
        (
            "using numpy 1.x",
            "numpy 1.x",
            "numpy.dtype size changed",
            "_array_api not found",
            "numpy",
        ),
        r"A module that was compiled using NumPy 1\.x cannot be run in"
        r"|_ARRAY_API not found|numpy\.dtype size changed, may indicate binary incompatibility"
        r"|numpy\.core\.multiarray failed to import|numpy\.ufunc size changed"
        r"|module compiled against (?:ABI|API) version 0x\w{1,120} but this version of numpy is 0x\w{1,120}"
        r"|Failed to initialize NumPy: (?:_ARRAY_API|numpy\.core)",
        "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.0 as it may crash.",
        "numpy 2 release notes",
    ),
    Signature(
        "numpy_unavailable",
        ("numpy is not available",),
        r"Numpy is not available",
        "RuntimeError: Numpy is not available",
        "torch csrc/utils/tensor_numpy.cpp",
    ),
    Signature(
        "no_torch_version",
        ("no matching distribution found for torch", "satisfies the requirement torch", "torch"),
        r"No matching distribution found for torch(?:vision|audio)?\b"
        r"|Could not find a version that satisfies the requirement torch\S{0,160}"
        r"|(?:torch|torchvision|torchaudio|pytorch)\S{0,160} has no wheels with a matching Python"
        r"|Because torch\S{0,160} has no wheels[^\n]{0,160}|torch\S{0,160} requires Python ?[<>=!~]"
        r"|Requires-Python[^\n]{0,40}torch|(?:`torch`|torch)[^\n]{0,30} only has wheels (?:with|for) the following|nothing provides python[^\n]{0,60}pytorch"
        r"|pytorch\S{0,160}[^\n]{0,60}requires python[^\n]{0,60}|Package \S{0,160}torch\S{0,160} requires a different"
        r" Python",
        "ERROR: No matching distribution found for torch",
        "pip and uv",
    ),
    Signature(
        "python_version_dynamo",
        ("not supported on python 3", "python 3.", "is not supported on"),
        r"(?:Dynamo|torch\.compile) is not supported on Python 3\.(\d+)\+?",
        "RuntimeError: Dynamo is not supported on Python 3.12+",
        "torch._dynamo.eval_frame",
    ),
    Signature(
        "abi_tag_refused",
        ("is not a supported wheel on this platform",),
        r"\S{0,160}-cp(\d)(\d+)-\S{1,160} is not a supported wheel on this platform",
        "ERROR: torch-1.7.0-cp38-cp38-linux_x86_64.whl is not a supported wheel on this platform.",
        "pip",
    ),
    Signature(
        "partially_initialized",
        (
            "partially initialized module",
            "circular import",
            "has no attribute",
            "cannot import name",
        ),
        r"partially initialized module '([\w.]{1,60})'(?:[^\n]{0,80}\(?most likely due to a circular"
        r" import\)?)?(?:[^\n]{0,40}\((/[^)\n]{1,160})\))?"
        r"|module '(torch|numpy|triton|torchvision)' has no attribute '(\w{1,120})'",
        "AttributeError: partially initialized module 'torch' has no attribute 'Tensor' (most likely"
        " due to a circular import)",
        "CPython",
    ),
    Signature(
        "stdlib_shadowed",
        ("consider renaming", "since it has the same name as the standard library module"),
        r"(?:consider renaming '([^'\n]{1,160})' since it has the same name as the)"
        r" (standard library|library you intended to import|third-party)",
        "AttributeError: module 'random' has no attribute 'x' (consider renaming '/home/u/random.py'"
        " since it has the same name as the standard library module named 'random')",
        "CPython 3.13",
    ),
    Signature(
        "name_missing_in_file",
        ("cannot import name",),
        r"cannot import name '\w{1,60}' from '([\w.]{1,60})' \(([^()\n]{1,200}[\\/]([\w-]{1,60})\.py)\)",
        "ImportError: cannot import name 'Random' from 'random' (/home/user/app/random.py)",
        "CPython",
    ),
    Signature(
        "user_frame",
        ('file "',),
        r'^\s*File "([^"\n]+\.py)", line \d+',
        '  File "/home/user/projects/dis.py", line 10, in <module>',
        "CPython traceback",
    ),
    Signature(
        "user_site_path",
        (".local/lib/python",),
        r"(\S{0,160}/\.local/lib/python3\.\d+/site-packages)(?:/(\w{1,120}))?",
        "/home/user/.local/lib/python3.10/site-packages/torch/__init__.py",
        "site module",
    ),
    Signature(
        "operator_missing",
        (
            "torchvision::",
            "couldn't load custom c++ ops",
            "torchvision",
            "torchaudio",
            "extension modules",
        ),
        r"(?:operator torchvision::\w{1,120} does not exist|No such operator torchvision::\w{1,60})|Couldn.t load custom C\+\+ ops"
        r"|Failed to load image Python extension|Could not load this library: \S{0,160}torchtext"
        r"|Could not load this library: \S{0,160}(?:libtorchaudio|_torchaudio)"
        r"|Detected that PyTorch and (torch\w{1,120}) were compiled with different CUDA (?:major )?versions"
        r"|has CUDA Version[= ]+([\d.]{1,16}) and torch\w{1,120} has CUDA Version[= ]+([\d.]{1,16})"
        r"|partially initialized module 'torchvision'",
        "RuntimeError: operator torchvision::nms does not exist",
        "torchvision extension.py; torchaudio _extension",
    ),
    Signature(
        "family_cuda_versions",
        ("compiled with different cuda",),
        r"Detected that PyTorch and (\w{1,120}) (?:was|were) compiled with different CUDA (?:major )?"
        r"versions\.?\s{0,60}PyTorch has CUDA Version=?\s{0,60}([\d.]{1,16}) and \w{1,120} has CUDA Version=?\s{0,60}([\d.]{1,16})",
        "RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major"
        " versions. PyTorch has CUDA Version=13.0 and torchvision has CUDA Version=12.8.",
        "torchvision extension.py",
    ),
    Signature(
        "family_requirement",
        ("requires torch", "which is incompatible", "but you have torch"),
        r"(torch(?:vision|audio|text|data)|xformers|fastai|vllm|auto-gptq|pytorch-lightning)"
        r"\s{1,60}\S{1,160} (?:requires|has requirement) torch\s?[=<>!~(]\S{0,160},? ?(?:\S{1,160} )?"
        r"but you(?:'ll)? have torch (\S{1,160}) which is incompatible",
        "torchvision 0.15.2 requires torch==2.0.1, but you have torch 2.1.0 which is incompatible.",
        "pip's resolver",
    ),
    Signature(
        "torch_replaced",
        ("uninstalling torch-", "found existing installation: torch "),
        r"(?:Uninstalling torch-|Found existing installation: torch )(\d[\w.+]{0,40})",
        "Found existing installation: torch 1.11.0",
        "pip",
    ),
    Signature(
        "triton_name_missing",
        ("triton", "jitfunction", "compiledkernel"),
        r"cannot import name '(\w{1,120})' from '(triton[\w.]{0,40})'"
        r"|No module named '(triton\.[\w.]{1,60})'|module 'triton(?:\.[\w.]{1,60})?' has no attribute '(\w{1,120})'"
        r"|(?:ImportError|AttributeError|TypeError)[^\n]{0,80}triton[._]\w{1,120}"
        r"|JITFunction\S{0,30} (?:got an unexpected keyword|missing \d+ required)"
        r"|'(?:CompiledKernel|JITFunction|CUDADriver|CudaDriver)' object has no attribute",
        "ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler'",
        "torch._inductor; triton",
    ),
    Signature(
        "triton_not_found",
        ("triton",),
        r"Cannot find a working triton installation|TritonMissing|No module named 'triton'"
        r"|triton (?:is )?not (?:installed|found)",
        "RuntimeError: Cannot find a working triton installation.",
        "torch._inductor.exc",
    ),
    Signature(
        "extension_import_failed",
        ("import",),
        r"(?:ImportError|OSError|undefined symbol)[^\n]{0,160}?((?:flash_attn|xformers|bitsandbytes|detectron2"
        r"|mmcv|apex|torch_scatter|torch_sparse|torch_cluster|torch_spline_conv|causal_conv1d|mamba"
        r"|selective_scan|vllm|deepspeed|exllama|awq|auto_gptq|pytorch3d|nvdiffrast|tinycudann"
        r"|MultiScaleDeformableAttention|natten|spconv|dgl|torch_geometric|pyg_lib|fused_dense_lib"
        r"|sageattention|rotary_emb|fairseq|transformer_engine)\w{0,120})",
        "ImportError: /opt/lib/flash_attn_2_cuda.cpython-310.so: undefined symbol: _ZN3c104cuda",
        "names of the packages' extension modules",
    ),
    Signature(
        "cpuonly_package",
        ("cpuonly", "cpu_", "_cpu", "+cpu", "cpu"),
        r"^(?:cpuonly)\s{1,60}\d|^(pytorch|torchvision|libtorch|torchaudio)\s{1,60}\S{1,160}\s{1,60}\S{0,160}cpu\S{0,160}"
        r"|^\S{0,160}\btorch==?\s?(\d[\w.]{0,40}\+cpu)\b|\btorch-\d[\w.]{0,40}\+cpu\b|\bpytorch-mutex\s{1,60}\S{1,160}\s{1,60}cpu\b",
        "pytorch                   1.11.0              py3.8_cpu_0    pytorch",
        "conda list",
    ),
    Signature(
        "framework_without_gpu",
        (
            "jaxlib",
            "executionprovider",
            "not built with",
            "was not compiled",
            "gpu/tpu",
            "cpu-only",
            "without gpu support",
            "not enabled",
            "built_with_cuda",
            "compiled without",
            "this build",
            "this version",
            "this installation",
            "gpu offload",
            "gpu support",
        ),
        r"a CUDA-enabled jaxlib is not installed"
        r"|No GPU/TPU found, falling back to CPU"
        r"|Specified provider 'CUDAExecutionProvider' is not in available provider names"
        r"|not available in CPU-only version of bitsandbytes"
        r"|installed version of bitsandbytes was compiled without GPU support"
        r"|TensorFlow (?:binary )?was not (?:built|compiled) with (?:CUDA|GPU)"
        r"|built_with_cuda\(\)[^\n]{0,6}False|is_built_with_cuda\S{0,160} False"
        r"|This (?:build|version|installation) of \w{1,120} (?:was|is) (?:not|compiled without|CPU)[^\n]{0,160}"
        r"(?:CUDA|GPU|CPU[- ]only)|(?:dgl|DGL)[^\n]{0,60}not enabled|cpu-only (?:build|version)"
        r"|not compiled with GPU offload support|was compiled without GPU support"
        r"|Device API cuda is not enabled",
        "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed."
        " Falling back to cpu.",
        "jax xla_bridge; onnxruntime; bitsandbytes; dgl",
    ),
    Signature(
        "no_module_torch",
        ("no module named 'torch'", "no module named torch"),
        r"No module named '?torch'?(?![.\w])",
        "ModuleNotFoundError: No module named 'torch'",
        "CPython",
    ),
    Signature(
        "illegal_instruction",
        ("illegal instruction", "sigill"),
        r"[Ii]llegal instruction(?: \(core dumped\))?|SIGILL",
        "Illegal instruction (core dumped)",
        "bash",
    ),
    Signature(
        "application_error",
        ("error", "mismatch", "expected"),
        r"mat1 and mat2 shapes cannot be multiplied|Expected all tensors to be on the same device"
        r"|size mismatch for|shape '\[[^\]\n]*\]' is invalid for input of size"
        r"|The size of tensor a \(\d+\) must match|device-side assert triggered"
        r"|Weights only load failed|KeyError: '(?!libamd)|FileNotFoundError|JSONDecodeError"
        r"|CUDA error: an illegal memory access|Sizes of tensors must match|index out of range",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x4)",
        "torch",
    ),
    Signature(
        "namespace_shadow",
        ("(unknown location)",),
        r"cannot import name '\w{1,60}' from '(?:torch|numpy|triton|flash_attn|vllm|apex)'"
        r" \(unknown location\)",
        "ImportError: cannot import name 'Tensor' from 'torch' (unknown location)",
        "CPython: a folder of that name in the working directory is a namespace package",
    ),
    Signature(
        "dll_load_failed",
        ("dll load failed",),
        r"DLL load failed while importing (\w{1,80})",
        "ImportError: DLL load failed while importing flash_attn_2_cuda: The specified procedure"
        " could not be found.",
        "CPython on Windows",
    ),
    Signature(
        "not_a_package",
        ("is not a package",),
        r"No module named '(\w{1,60})\.[\w.]{1,60}'; '\w{1,60}' is not a package",
        "ModuleNotFoundError: No module named 'torch.nn'; 'torch' is not a package",
        "CPython",
    ),
    Signature(
        "basic_attribute_missing",
        ("has no attribute",),
        r"module '(torch|numpy|triton|torchvision)' has no attribute '(__version__|Tensor|nn|cuda"
        r"|tensor|device|float32|FloatTensor|ndarray|array|jit|language|no_grad|load|optim)'",
        "AttributeError: module 'torch' has no attribute '__version__'",
        "CPython: what a namesake of the module lacks",
    ),
    Signature(
        "torch_cuda_none",
        ("torch.version.cuda", "cuda used to build pytorch"),
        r"torch\.version\.cuda\)?\s{0,3}(?:[:=]|is|->|returns)?\s{0,3}None\b"
        r"|^\s{0,8}CUDA used to build PyTorch\s{0,8}: None\b",
        "CUDA used to build PyTorch: None",
        "torch.utils.collect_env",
    ),
)
